//! A call that a model asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ContentItem;

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

impl ToolCall {
    /// Returns what the model reads before the result of a call whose arguments a person changed to these.
    #[must_use]
    pub fn note_of_change(input: &Value) -> ContentItem {
        ContentItem::Text(format!("[a person changed the arguments to {input}]"))
    }
}
