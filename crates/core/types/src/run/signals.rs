//! The signals that a run takes.

use serde::{Deserialize, Serialize};

/// A message that a person queues while a run is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The text.
    pub text: String,
}

impl UserMessage {
    /// Returns a message of this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// The signals that an agent run takes. Any other name is free for workflows of your own.
pub mod signal {
    /// A [`Decision`](crate::Decision) about a ticket.
    pub const DECISION: &str = "decision";
    /// A [`UserMessage`](crate::UserMessage), taken up at the next turn boundary.
    pub const USER_MESSAGE: &str = "user_message";
    /// Cancels the run; the payload may be `{"reason": "…"}`.
    pub const CANCEL: &str = "cancel";
}
