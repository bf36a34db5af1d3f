//! A call that a model asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call that the model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the answer must carry.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments.
    pub input: Value,
}
