//! Why a turn fails.

use neuron_types::{DurableError, FailureKind, RunError, SessionName, StepFailure};

use crate::StateError;

/// Why a turn fails. It has no effects then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// A step failed, and the same turn may succeed later. The turn has not tried again: the caller decides.
    #[error("a step failed that may succeed later")]
    Retryable {
        /// The step's failure.
        #[source]
        source: StepFailure,
    },
    /// The model came to no answer that counts: its output was truncated, a filter blocked it, or the provider rejects
    /// the request.
    #[error("{message}")]
    Model {
        /// Why.
        message: String,
        /// The failure of the call, if it failed.
        #[source]
        source: Option<StepFailure>,
    },
    /// A step that is no model call ended the turn.
    #[error("a step failed for good")]
    Step {
        /// The step's failure.
        #[source]
        source: StepFailure,
    },
    /// The turn waits for a person, and this program asks none.
    #[error("the turn waits for a person about {asked}, and nobody asks one")]
    NobodyToAsk {
        /// What it asks about.
        asked: String,
    },
    /// The conversation before the turn cannot be read.
    #[error("the session {session} cannot be read")]
    State {
        /// The session.
        session: SessionName,
        /// Why.
        #[source]
        source: StateError,
    },
    /// The turn names a session, and has nothing that it could be read from.
    #[error("the turn has no state to read the session {session} from")]
    NoState {
        /// The session.
        session: SessionName,
    },
    /// The door failed, or the run continues in another process.
    #[error("the turn does not come to its end here")]
    Door(#[from] DurableError),
}

impl TurnError {
    /// Returns that the model's output was cut at its limit.
    #[must_use]
    pub fn truncated() -> Self {
        Self::Model {
            message: "output truncated".to_owned(),
            source: None,
        }
    }

    /// Returns whether the same turn may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Retryable { .. })
    }

    /// Returns what kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Retryable { source } | Self::Step { source } => source.kind,
            Self::Model { source, .. } => {
                let failed = source.as_ref().map(|source| source.kind);
                failed.unwrap_or(FailureKind::InvalidAnswer)
            }
            Self::Door(DurableError::Step(failure)) => failure.kind,
            Self::NobodyToAsk { .. } => FailureKind::NotApproved,
            Self::State { .. } | Self::NoState { .. } | Self::Door(_) => FailureKind::Internal,
        }
    }

    /// Returns the error of a run that ended with this, after this failure of a model call or of another step.
    pub(crate) fn of_run(error: Option<RunError>, last: Option<(bool, StepFailure)>) -> Self {
        let error = error.unwrap_or_else(|| RunError {
            kind: FailureKind::Internal,
            message: "the run failed and does not say why".to_owned(),
        });
        let (is_model, source) = match last {
            Some((is_model, failure)) if failure.kind == error.kind => (is_model, failure),
            _ => (false, StepFailure::new(error.kind, error.message)),
        };
        if source.retryable {
            Self::Retryable { source }
        } else if is_model || is_of_model(source.kind) {
            Self::Model {
                message: "the model call failed".to_owned(),
                source: Some(source),
            }
        } else {
            Self::Step { source }
        }
    }
}

/// Returns whether only model calls fail with this kind.
const fn is_of_model(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::ContextLength
            | FailureKind::ModelNotFound
            | FailureKind::Quota
            | FailureKind::ContentFilter
            | FailureKind::InvalidAnswer
            | FailureKind::MalformedAnswer
    )
}
