//! Where guards look.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where in a run a [guard](crate::Guard) looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardPoint {
    /// The prompt and messages, before the model reads them.
    Input,
    /// A tool call with its final arguments, before a person is asked about it and before it is made.
    Call,
    /// The result of a tool call, before it is journaled and before the model reads it.
    Result,
    /// The text of a model's answer, before it is journaled and before it is shown.
    Output,
}

impl GuardPoint {
    /// All points, in the order in which a run comes to them.
    pub const ALL: [Self; 4] = [Self::Input, Self::Call, Self::Result, Self::Output];

    /// Returns its name, as it stands in agent files and events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Call => "call",
            Self::Result => "result",
            Self::Output => "output",
        }
    }
}

impl fmt::Display for GuardPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
