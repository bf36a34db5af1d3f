//! The outcome of an attempt.

use neuron_engine::json_bytes;
use neuron_types::{CompletionResponse, End, Spent, StepFailure, ToolOutput};
use serde::{Deserialize, Serialize};

/// The outcome of an attempt, as it is journaled.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AttemptOutcome {
    Model(Result<Box<CompletionResponse>, StepFailure>),
    Tool(Result<ToolOutput, StepFailure>),
}

impl AttemptOutcome {
    /// How many bytes it takes in the journal.
    pub(crate) fn bytes(&self) -> usize {
        // It fails nowhere but where the journal would fail too.
        json_bytes(self).unwrap_or_default()
    }

    pub(crate) fn failure(&self) -> Option<&StepFailure> {
        match self {
            Self::Model(result) => result.as_ref().err(),
            Self::Tool(result) => result.as_ref().err(),
        }
    }

    /// The same, with what the attempts used and cost that failed before it.
    pub(crate) fn with_spent_before(self, spent: Option<Box<Spent>>) -> Self {
        match self {
            Self::Model(Ok(response)) => {
                Self::Model(Ok(Box::new(response.with_spent_before(spent))))
            }
            Self::Model(Err(failure)) => Self::Model(Err(failure.with_spent(spent))),
            Self::Tool(Err(failure)) => Self::Tool(Err(failure.with_spent(spent))),
            Self::Tool(Ok(output)) => Self::Tool(Ok(output)),
        }
    }
}

impl From<AttemptOutcome> for End {
    fn from(outcome: AttemptOutcome) -> Self {
        match outcome {
            AttemptOutcome::Model(result) => Self::Model(result),
            AttemptOutcome::Tool(result) => Self::Tool(result),
        }
    }
}
