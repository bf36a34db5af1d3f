//! What the caller who starts a run may set beyond what narrows its agent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that the caller who starts a run may set only where the agent
/// [allows it](crate::AgentSpec::callers_may_set): the setting can let the run do more than its agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallerSetting {
    /// [`Overrides::model`](crate::Overrides::model).
    Model,
    /// [`Overrides::instructions`](crate::Overrides::instructions).
    Instructions,
    /// [`Overrides::allow`](crate::Overrides::allow).
    Allow,
    /// [`Overrides::limits`](crate::Overrides::limits) above the agent's own.
    Limits,
}

impl CallerSetting {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Model, Self::Instructions, Self::Allow, Self::Limits];

    /// Returns it as it stands in agent files and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Instructions => "instructions",
            Self::Allow => "allow",
            Self::Limits => "limits",
        }
    }
}

impl fmt::Display for CallerSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
