//! What a run does where it would end.

use serde::{Deserialize, Serialize};

/// What happens where a run would end though a person could make it continue: a step gave up, or a limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnHalt {
    /// The run ends.
    #[default]
    End,
    /// A person is asked what now.
    Ask,
}

impl OnHalt {
    /// Returns whether it is the default.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
