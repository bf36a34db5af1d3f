//! What a decision answers beside its ticket.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// Which later calls of the run a [decision](crate::Decision) answers too, where they would be asked about for the same
/// reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Always {
    /// This call: the same tool with the same arguments.
    Call,
    /// Those that fit the ticket's [prefix](crate::Ticket::prefix).
    Prefix,
    /// Every call of the tool.
    Tool,
}

impl Always {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Call, Self::Prefix, Self::Tool];

    /// Returns it as it stands in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Prefix => "prefix",
            Self::Tool => "tool",
        }
    }

    /// Reads what a decision says: one of these, or the flag that earlier clients send, which stands for the narrowest.
    ///
    /// # Errors
    ///
    /// The deserializer's, for anything else.
    pub fn of_decision<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Flag(bool),
            Always(Option<Always>),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Flag(true) => Some(Self::Call),
            Form::Flag(false) => None,
            Form::Always(always) => always,
        })
    }
}

impl fmt::Display for Always {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
