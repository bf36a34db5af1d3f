//! A call that a model asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Approval, ContentItem, Resumed};

/// One call that the model asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the answer must carry.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// What it is made again with, if it [asked a form](crate::Pending::Form).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// The [fingerprint](crate::Preview::fingerprint) that a person saw who approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// What people decided about it, if they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
}

impl ToolCall {
    /// Returns the call of a tool.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            resumed: None,
            preview: None,
            approval: None,
        }
    }

    /// Returns what the model reads before the result of a call whose arguments a person changed to these.
    #[must_use]
    pub fn note_of_change(input: &Value) -> ContentItem {
        ContentItem::Text(format!("[a person changed the arguments to {input}]"))
    }
}
