//! Conversations: a flat list of messages, each a role and a list of content blocks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks in a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the loop answering tool calls.
    User,
    /// The model.
    Assistant,
    /// The operator, in the middle of a conversation. The prompt at its head is
    /// [`RequestHead::system`](crate::RequestHead::system).
    System,
}

/// One piece of a [`Message`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(String),
    /// Readable reasoning. `signature` is opaque and is replayed unchanged.
    Thinking {
        /// The reasoning; empty where the provider omits it.
        thinking: String,
        /// What the provider signed it with, if it signs.
        signature: Option<String>,
        /// The field of the message that the server had it in, where its API has no blocks: some want it back in the same
        /// one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        field: Option<String>,
    },
    /// Reasoning that only the provider can read.
    RedactedThinking {
        /// Opaque; replayed unchanged.
        data: String,
    },
    /// The model asks for a tool call.
    ToolUse {
        /// The run's id of this call, which no other call of the conversation has. In a provider's answer it is the
        /// provider's, or one that the provider crate made up.
        id: String,
        /// The provider's id, where the run could not take it for its own. It is for that provider alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own_id: Option<String>,
        /// The tool's name as the model wrote it.
        name: String,
        /// The arguments. Not an object where the model wrote something else.
        input: Value,
        /// The provider's other fields of this block, replayed unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<Value>,
    },
    /// The answer to a [`ContentBlock::ToolUse`].
    ToolResult(ToolResultBlock),
    /// A picture.
    Image {
        /// Where its bytes are.
        source: ImageSource,
    },
    /// A document.
    Document {
        /// Where its bytes are.
        source: DocumentSource,
    },
    /// A summary that the provider made of the conversation before it.
    Compaction {
        /// The summary.
        content: String,
    },
    /// Says which model gave this answer, where the agent [has several](crate::RequestHead::fallback_models): the last block
    /// of the message, added by the executor. No provider is sent it.
    AnsweredBy {
        /// The model, as `provider/model`.
        model: String,
    },
    /// A provider-native block that has no variant here: kept as it came, replayed unchanged.
    Other(Value),
}

/// The answer to one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResultBlock {
    /// The id of the [`ContentBlock::ToolUse`] that this answers.
    pub tool_use_id: String,
    /// The tool's name. Some providers want it beside the id.
    pub name: String,
    /// What the model reads.
    pub content: Vec<ContentItem>,
    /// The call failed, was rejected or was not made, and `content` says why.
    pub is_error: bool,
}

/// One piece of a tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentItem {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// Where its bytes are.
        source: ImageSource,
    },
}

/// Where a picture's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// Inline.
    Base64 {
        /// For example `image/png`.
        media_type: String,
        /// The bytes in standard base64.
        data: String,
    },
    /// At an address that the provider fetches.
    Url {
        /// The address.
        url: String,
    },
}

/// Where a document's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentSource {
    /// An inline PDF.
    Base64Pdf {
        /// The bytes in standard base64.
        data: String,
    },
    /// Inline text.
    PlainText {
        /// The text.
        data: String,
    },
    /// At an address that the provider fetches.
    Url {
        /// The address.
        url: String,
    },
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<ContentBlock>,
}

impl Message {
    /// A user message of one text block.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: vec![ContentBlock::Text(text.into())],
        }
    }

    /// An assistant message of one text block.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![ContentBlock::Text(text.into())],
        }
    }

    /// An assistant message of these blocks.
    #[must_use]
    pub const fn answer(content: Vec<ContentBlock>) -> Self {
        Self {
            role: Role::Assistant,
            content,
        }
    }

    /// Returns the text blocks, joined as they stand. Empty if there is no text block.
    #[must_use]
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Puts another text in the place of its text blocks: where the first of them was, or in front if it has none. The other
    /// blocks stay; of those that a provider wrote, the fields that repeat texts are emptied: `logprobs`, `annotations` and
    /// `citations`.
    pub fn replace_text(&mut self, text: impl Into<String>) {
        for block in &mut self.content {
            if let ContentBlock::Other(raw) = block {
                empty_repeated(raw);
            }
        }
        let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
        let place = self.content.iter().position(is_text).unwrap_or(0);
        self.content.retain(|block| !is_text(block));
        self.content.insert(
            place.min(self.content.len()),
            ContentBlock::Text(text.into()),
        );
    }

    /// Returns which model gave this answer, as `provider/model`: known where the agent has several.
    #[must_use]
    pub fn answered_by(&self) -> Option<&str> {
        self.content.iter().rev().find_map(|block| match block {
            ContentBlock::AnsweredBy { model } => Some(model.as_str()),
            _ => None,
        })
    }
}

/// The fields of blocks of providers that repeat the texts of an answer.
const REPEATED: [&str; 3] = ["logprobs", "annotations", "citations"];

/// Empties the fields that repeat texts, at any depth.
fn empty_repeated(raw: &mut Value) {
    match raw {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::Array(items) if REPEATED.contains(&name.as_str()) => items.clear(),
                    field if REPEATED.contains(&name.as_str()) => *field = Value::Null,
                    field => empty_repeated(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(empty_repeated),
        _ => {}
    }
}

impl ContentBlock {
    /// Reasoning without a signature.
    #[must_use]
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking {
            thinking: thinking.into(),
            signature: None,
            field: None,
        }
    }

    /// A tool call as the model asks for it.
    #[must_use]
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolUse {
            id: id.into(),
            own_id: None,
            name: name.into(),
            input,
            extra: None,
        }
    }
}
