//! Whose requests go first.

use serde::{Deserialize, Serialize};

/// Whose requests go first where the requests for one key wait for their turn.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// A person waits for the answer.
    #[default]
    Interactive,
    /// No person waits for the answer: the step comes after what is interactive, and has a tenth of the turns at least.
    Batch,
}

impl Priority {
    /// Returns whether it is what is meant where nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
