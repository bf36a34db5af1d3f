//! What keeps a door call from its result.

use std::error::Error;

use crate::StepFailure;

/// The errors of a door call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DurableError {
    /// The effect failed for good.
    #[error("the step failed")]
    Step(#[from] StepFailure),
    /// The run was cancelled.
    #[error("the run was cancelled{}", .reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default())]
    Cancelled {
        /// What the person who did it said.
        reason: Option<String>,
    },
    /// The run was put away, whole; resuming it continues from here.
    #[error("the run is parked until somebody resumes it")]
    Suspended,
    /// The run continues in another segment, not here.
    #[error("the run goes on in a fresh history")]
    ContinuedAsNew,
    /// The journal holds another step than the one that the loop asks for: the code or the agent changed under a run in
    /// flight.
    #[error(
        "the journal does not fit at {step}: it holds {recorded}, the run asks for {requested}"
    )]
    NonDeterminism {
        /// Where in the run.
        step: String,
        /// What the journal holds there.
        recorded: String,
        /// What the loop asked for.
        requested: String,
    },
    /// A signal's payload was not what the run waits for.
    #[error("signal {name} has a payload that cannot be read")]
    BadSignal {
        /// The signal's name.
        name: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The engine or the journal failed. What was journaled is safe.
    #[error("the engine failed")]
    Engine {
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl DurableError {
    /// Wraps an engine's own error.
    pub fn engine(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Engine {
            source: source.into(),
        }
    }
}
