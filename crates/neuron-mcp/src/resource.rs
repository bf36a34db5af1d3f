//! Lists, resources and prompts.

use neuron_types::{ContentBlock, ContentItem, Message, Role};
use rmcp::model as wire;
use serde::Serialize;

use crate::content;

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaginatedList<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Gets the next page. `None` on the last one.
    pub next_cursor: Option<String>,
}

/// Something that a server lets others read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpResource {
    /// Its address, which need not be one of the web.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A pattern of addresses of resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpResourceTemplate {
    /// The pattern, as in RFC 6570.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resources are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// A part of what a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceContent {
    /// Its own address.
    pub uri: String,
    /// For example `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What it holds.
    #[serde(flatten)]
    pub data: ResourceData,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceData {
    /// A text.
    Text(String),
    /// Bytes, in standard base64.
    Blob(String),
}

/// A prompt that a server has ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpPrompt {
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is filled in with.
    pub arguments: Vec<McpPromptArgument>,
}

/// Something that a prompt is filled in with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be there.
    pub required: bool,
}

/// A prompt, filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The conversation to begin with.
    pub messages: Vec<Message>,
}

impl From<wire::Resource> for McpResource {
    fn from(it: wire::Resource) -> Self {
        Self {
            uri: it.uri,
            name: it.name,
            title: it.title,
            description: it.description,
            mime_type: it.mime_type,
            size: it.size,
        }
    }
}

impl From<wire::ResourceTemplate> for McpResourceTemplate {
    fn from(it: wire::ResourceTemplate) -> Self {
        Self {
            uri_template: it.uri_template,
            name: it.name,
            title: it.title,
            description: it.description,
            mime_type: it.mime_type,
        }
    }
}

impl From<wire::ResourceContents> for ResourceContent {
    fn from(it: wire::ResourceContents) -> Self {
        match it {
            wire::ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                ..
            } => Self {
                uri,
                mime_type,
                data: ResourceData::Text(text),
            },
            wire::ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => Self {
                uri,
                mime_type,
                data: ResourceData::Blob(blob),
            },
            other => {
                let json = serde_json::to_value(other).unwrap_or_default();
                Self {
                    uri: String::new(),
                    mime_type: None,
                    data: ResourceData::Text(json.to_string()),
                }
            }
        }
    }
}

impl From<wire::Prompt> for McpPrompt {
    fn from(it: wire::Prompt) -> Self {
        let arguments = it.arguments.unwrap_or_default().into_iter();
        Self {
            name: it.name,
            title: it.title,
            description: it.description,
            arguments: arguments
                .map(|argument| McpPromptArgument {
                    name: argument.name,
                    description: argument.description,
                    required: argument.required.unwrap_or_default(),
                })
                .collect(),
        }
    }
}

impl From<wire::GetPromptResult> for PromptResult {
    fn from(it: wire::GetPromptResult) -> Self {
        let message = |message: wire::PromptMessage| Message {
            role: match message.role {
                wire::Role::User => Role::User,
                wire::Role::Assistant => Role::Assistant,
            },
            content: vec![match content::item(message.content) {
                ContentItem::Text(text) => ContentBlock::Text(text),
                ContentItem::Image { source } => ContentBlock::Image { source },
                other => ContentBlock::Other(serde_json::to_value(other).unwrap_or_default()),
            }],
        };
        Self {
            description: it.description,
            messages: it.messages.into_iter().map(message).collect(),
        }
    }
}
