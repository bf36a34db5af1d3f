//! The signals that a run takes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// A wish that a run adopts the current definition of its agent before its next turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeRequest {
    /// Who wishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl UpgradeRequest {
    /// Reads the payload of a signal: a run is upgraded by whatever is sent.
    #[must_use]
    pub fn of_signal(payload: &Value) -> Self {
        let by = payload.get("by").and_then(Value::as_str);
        Self {
            by: by.map(ToOwned::to_owned),
        }
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
    /// How a run ended that this one has started: a [`ChildEnd`](crate::ChildEnd). Runs report it to each other.
    pub const CHILD: &str = "child";
    /// A run below asks for more of the budget, or whether the run is there: a [`LeaseRequest`](crate::LeaseRequest). Runs
    /// send it each other.
    pub const LEASE: &str = "lease";
    /// The run above answers that: a [`LeaseGrant`](crate::LeaseGrant). Runs send it each other.
    pub const GRANT: &str = "grant";
    /// Has the run adopt the current definition of its agent before its next turn; the payload may be an
    /// [`UpgradeRequest`](crate::UpgradeRequest).
    pub const UPGRADE: &str = "upgrade";
}
