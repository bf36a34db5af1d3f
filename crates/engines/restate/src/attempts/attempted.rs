//! The results of the attempts that a worker was asked for.

use neuron_types::{Outcome, StepFailure, json_bytes};

/// The result of an attempt.
pub(crate) type StepResult = Result<Outcome, StepFailure>;

/// The result of the newest attempt, and how many attempts were made: one, except for a step that keeps failing.
#[derive(Debug, Clone)]
pub(crate) struct Attempted {
    pub(crate) result: StepResult,
    pub(crate) made: u32,
}

impl Attempted {
    /// Returns how many bytes the result takes in the journal.
    pub(crate) fn bytes(&self) -> usize {
        // This only fails where the journal would fail too.
        json_bytes(&self.result).unwrap_or_default()
    }
}

impl From<StepResult> for Attempted {
    fn from(result: StepResult) -> Self {
        Self { result, made: 1 }
    }
}
