//! What a tool call returns.

use std::any::Any;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ContentItem, Guarded, Pending};

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<ContentItem>,
    /// The same for programs, fitting [`ToolDefinition::output_schema`](crate::ToolDefinition::output_schema).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The call failed, and `content` says why.
    #[serde(default)]
    pub is_error: bool,
    /// The call has no result yet: what it waits for. The rest is not read then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// What guards said of it, as the executor found; tools leave it at `None`. Where they had it replaced or blocked, the
    /// rest is what the model reads instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Box<Guarded>>,
    /// The names of the tools that it loads, where it is that of [`FIND_TOOLS`](crate::FIND_TOOLS); no other tool loads any.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub loaded: Box<[String]>,
}

impl ToolOutput {
    /// Returns the texts of the result that are not empty, in order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let texts = self.content.iter().filter_map(|item| match item {
            ContentItem::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }

    /// A result of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentItem::Text(text.into())],
            ..Self::default()
        }
    }

    /// A failure that the model reads as one text.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// No result yet: what the call waits for.
    #[must_use]
    pub fn pending(pending: Pending) -> Self {
        Self {
            pending: Some(pending),
            ..Self::default()
        }
    }

    /// The failure of a call of a tool that there is not, which says which there are.
    #[must_use]
    pub fn unknown_tool<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self::error(Self::unknown_tool_text(name, known))
    }

    /// Returns the text of [`unknown_tool`](Self::unknown_tool).
    #[must_use]
    pub fn unknown_tool_text<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
        let known: Vec<&str> = known.into_iter().collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        format!("there is no tool {name:?}: use {known}")
    }

    /// Returns the output of a tool: a `ToolOutput` is itself, anything else goes through
    /// [`from_value`](Self::from_value).
    ///
    /// # Errors
    ///
    /// If JSON cannot hold the result.
    pub fn from_tool<T: Serialize + 'static>(output: T) -> Result<Self, serde_json::Error> {
        let mut output = Some(output);
        let whole: Option<&mut Option<Self>> = (&mut output as &mut dyn Any).downcast_mut();
        match whole.and_then(Option::take) {
            Some(whole) => Ok(whole),
            None => serde_json::to_value(output).map(Self::from_value),
        }
    }

    /// A result as JSON: a string is its own text, null is an empty text, anything else is JSON text with an
    /// object kept as structured content too.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::String(text) => Self::text(text),
            Value::Null => Self::text(""),
            Value::Object(_) => Self {
                structured_content: Some(value.clone()),
                ..Self::text(value.to_string())
            },
            other => Self::text(other.to_string()),
        }
    }
}
