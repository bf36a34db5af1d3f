//! What became of one tool call.

use std::time::Duration;

use neuron_types::millis;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of one tool call of a turn, an effect tool's too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCallRecord {
    /// The call's id in the conversation.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub input: Value,
    /// Whether the call failed, or a hook skipped it.
    pub is_error: bool,
    /// How long it took, by the clock of the run.
    #[serde(rename = "duration_ms", with = "millis")]
    pub duration: Duration,
}
