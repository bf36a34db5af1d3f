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
    /// Whether hooks were asked about it already, in a step of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooked: bool,
}

impl ToolCall {
    /// Who changed arguments that no person changed, in the text for the model.
    pub const NO_PERSON: &str = "a guard or a hook";

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
            hooked: false,
        }
    }

    /// Returns what the model reads before the result of a call whose arguments a person changed to these.
    #[must_use]
    pub fn note_of_change(input: &Value) -> ContentItem {
        Self::note_of_change_by("a person", input)
    }

    /// As [`note_of_change`](Self::note_of_change), where this one changed them.
    #[must_use]
    pub fn note_of_change_by(who: &str, input: &Value) -> ContentItem {
        ContentItem::Text(format!("[{who} changed the arguments to {input}]"))
    }
}
