//! What came of the attempts that a worker was asked for.

use neuron_types::{Outcome, StepFailure, json_bytes};

/// What an attempt came to.
pub(crate) type StepResult = Result<Outcome, StepFailure>;

/// What the newest attempt came to, and how many were made: one, but at a step that goes on failing.
#[derive(Debug, Clone)]
pub(crate) struct Attempted {
    pub(crate) result: StepResult,
    pub(crate) made: u32,
}

impl Attempted {
    /// How many bytes its result takes in the journal.
    pub(crate) fn bytes(&self) -> usize {
        // It fails nowhere but where the journal would fail too.
        json_bytes(&self.result).unwrap_or_default()
    }
}

impl From<StepResult> for Attempted {
    fn from(result: StepResult) -> Self {
        Self { result, made: 1 }
    }
}
