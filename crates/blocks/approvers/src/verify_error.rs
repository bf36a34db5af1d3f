//! Why a decision is not taken.

use neuron_types::NOT_SIGNED;

/// A decision's signature does not show that a person with a known key decided so. Holds nothing that the sender wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not signed.
    #[error("{NOT_SIGNED}")]
    Unsigned,
    /// Its signature cannot be read.
    #[error("the signature is no armored SSH signature")]
    Unreadable {
        /// Why; `None` if it is too long to be one.
        #[source]
        source: Option<ssh_key::Error>,
    },
    /// It was signed for something else.
    #[error("the signature was not made for the namespace \"neuron\"")]
    Namespace,
    /// It was signed with a key that no approver has.
    #[error("no approver has the key {key}")]
    Stranger {
        /// The key's fingerprint.
        key: String,
    },
    /// The signature is that of an approver's key, but not over this decision: another run, ticket, digest, definition,
    /// content or time.
    #[error("the signature with the key {key} of {approver} is not over this decision")]
    Mismatch {
        /// Whose key it is.
        approver: String,
        /// The key's fingerprint.
        key: String,
    },
    /// A hardware key signed without having been touched.
    #[error("the hardware key {key} of {approver} signed without a touch")]
    Untouched {
        /// Whose key it is.
        approver: String,
        /// The key's fingerprint.
        key: String,
    },
}

impl VerifyError {
    /// Returns the reason in one word, for events and metrics: `unsigned`, `unreadable`, `namespace`, `stranger`,
    /// `mismatch` or `untouched`.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Unreadable { .. } => "unreadable",
            Self::Namespace => "namespace",
            Self::Stranger { .. } => "stranger",
            Self::Mismatch { .. } => "mismatch",
            Self::Untouched { .. } => "untouched",
        }
    }
}
