//! What a run does that repeats itself.

use serde::{Deserialize, Serialize};

/// What happens to a run that makes the same call with the same result again and again,
/// [twice as often](crate::AgentSpec::max_repeats) as it takes until its model gets a hint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnLoop {
    /// The model gets a hint each time.
    #[default]
    Hint,
    /// A person is asked whether the run continues.
    Ask,
    /// The run ends.
    End,
}

impl OnLoop {
    /// Returns whether it is the default.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
