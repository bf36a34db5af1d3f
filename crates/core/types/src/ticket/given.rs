//! Approvals of tickets that need several.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An approval that a ticket has, where it needs more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// Who approved.
    pub name: Option<String>,
    /// The fingerprint of the key that they signed with.
    pub key: Option<String>,
    /// Whether their signature was verified.
    pub verified: bool,
    /// When the run took it.
    pub at: DateTime<Utc>,
    /// The arguments that they approved, where those are not the ticket's. All approvals of a ticket are of the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}
