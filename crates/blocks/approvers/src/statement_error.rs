//! Why there is nothing to sign.

/// There is no statement of a decision: something is not known that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The run has no id.
    #[error("the run does not know its id")]
    NoRun,
    /// The run has no nonce, as one that an older neuron began, or that has not begun yet.
    #[error("the run has no nonce, so nothing can be signed that is about this run only")]
    NoNonce,
    /// The fingerprint of the run's definition is not known, as of a run that has not begun yet.
    #[error("the fingerprint of the run's definition is not known")]
    NoDefinition,
    /// The decision does not say when it was made.
    #[error("the decision does not say when it was signed")]
    NoTime,
}
