//! What a ticket can ask.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a [`Ticket`](crate::Ticket) asks.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum TicketKind {
    /// May this call be made?
    #[default]
    Call,
    /// What the model asks a person.
    Question,
    /// A step gave up: what now?
    Failure,
    /// A budget is used up: what now?
    Budget,
    /// It is unknown whether a write took effect: what now?
    UnknownOutcome,
    /// What a tool asks a person before it can continue.
    Form,
    /// The result of a deferred tool, which comes from elsewhere.
    External,
    /// A guard found something in a message, a result or an answer: does it pass?
    Guard,
}

impl TicketKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Call,
        Self::Question,
        Self::Failure,
        Self::Budget,
        Self::UnknownOutcome,
        Self::Form,
        Self::External,
        Self::Guard,
    ];

    /// Returns the kind as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Question => "question",
            Self::Failure => "failure",
            Self::Budget => "budget",
            Self::UnknownOutcome => "unknown_outcome",
            Self::Form => "form",
            Self::External => "external",
            Self::Guard => "guard",
        }
    }

    /// Returns whether `tool` and `args` of such a ticket are those of a call that the model asked for.
    #[must_use]
    pub const fn is_about_call(self) -> bool {
        matches!(
            self,
            Self::Call | Self::UnknownOutcome | Self::Form | Self::External | Self::Guard
        )
    }
}

impl fmt::Display for TicketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
