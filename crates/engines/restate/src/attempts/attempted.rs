//! What came of the attempts that a worker was asked for.

use crate::wire::attempt_outcome::AttemptOutcome;

/// The outcome of the newest attempt, and how many were made: one, but at a step that goes on failing.
#[derive(Debug, Clone)]
pub(crate) struct Attempted {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) made: u32,
}

impl From<AttemptOutcome> for Attempted {
    fn from(outcome: AttemptOutcome) -> Self {
        Self { outcome, made: 1 }
    }
}
