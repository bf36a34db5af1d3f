use std::borrow::Cow;

use neuron_provider_http::{CallIds, Joined, ResultText};
use neuron_types::{
    CompletionRequest, ContentBlock, DocumentSource, ImageSource, Message, ProviderError, Role,
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::{
    SystemRole, chat::call::ChatCall, chat::dialect::Dialect, location::Location, reasoning::refuse,
};

/// A message as it is sent.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(crate) enum ChatMessage<'a> {
    System {
        content: Joined<'a>,
    },
    Developer {
        content: Joined<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` beside calls.
        content: Option<Content<'a>>,
        #[serde(flatten)]
        reasoning: Option<Reasoning<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ChatCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: ResultText<'a>,
    },
}

/// Text alone is sent as text, since not every server takes parts.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(Joined<'a>),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part<'a> {
    Text {
        text: &'a str,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
    File {
        file: File<'a>,
    },
    #[serde(untagged)]
    Raw(&'a Value),
}

#[derive(Debug, Serialize)]
pub(crate) struct ImageUrl<'a> {
    url: Location<'a>,
}

#[derive(Debug, Serialize)]
pub(crate) struct File<'a> {
    filename: &'static str,
    file_data: Location<'a>,
}

/// Reasoning text under the name that the server knows it by.
#[derive(Debug)]
pub(crate) struct Reasoning<'a> {
    field: &'a str,
    text: Joined<'a>,
}

impl Serialize for Reasoning<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.field, &self.text)?;
        map.end()
    }
}

/// Returns the instructions and the conversation.
pub(crate) fn messages<'a>(
    request: &'a CompletionRequest,
    dialect: &'a Dialect,
) -> Result<Vec<ChatMessage<'a>>, ProviderError> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    let mut ids = CallIds::new(dialect.call_ids);
    if let Some(text) = Joined::instructions(request.system.as_ref()) {
        messages.push(instructions(text, dialect));
    }
    for group in request.messages.chunk_by(|a, b| a.role == b.role) {
        match group.first().map(|message| message.role) {
            Some(Role::User) => user(group, &mut ids, &mut messages)?,
            Some(Role::Assistant) => {
                messages.extend(group.iter().filter_map(|m| assistant(m, &mut ids, dialect)));
            }
            Some(Role::System) => messages.extend(group.iter().filter_map(|message| {
                let text = Joined(texts(message).collect());
                (!text.0.is_empty()).then(|| instructions(text, dialect))
            })),
            None => {}
        }
    }
    Ok(messages)
}

fn instructions<'a>(content: Joined<'a>, dialect: &Dialect) -> ChatMessage<'a> {
    match dialect.system_role {
        SystemRole::System => ChatMessage::System { content },
        SystemRole::Developer => ChatMessage::Developer { content },
    }
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
            Some(text.as_str())
        }
        _ => None,
    })
}

/// Results follow the calls that they answer; what else is said comes after them.
fn user<'a>(
    group: &'a [Message],
    ids: &mut CallIds<'a>,
    messages: &mut Vec<ChatMessage<'a>>,
) -> Result<(), ProviderError> {
    let mut pictures = Vec::new();
    let blocks = group.iter().flat_map(|message| &message.content);
    for block in blocks {
        if let ContentBlock::ToolResult(result) = block {
            let content = ResultText(result);
            pictures.extend(content.pictures().map(picture));
            messages.push(ChatMessage::Tool {
                tool_call_id: ids.answered(&result.tool_use_id),
                content,
            });
        }
    }
    if !pictures.is_empty() {
        messages.push(ChatMessage::User {
            content: Content::Parts(pictures),
        });
    }
    for message in group {
        let mut parts = Vec::with_capacity(message.content.len());
        for block in &message.content {
            parts.extend(user_part(block)?);
        }
        messages.extend(content(parts).map(|content| ChatMessage::User { content }));
    }
    Ok(())
}

fn picture(source: &ImageSource) -> Part<'_> {
    Part::ImageUrl {
        image_url: ImageUrl { url: source.into() },
    }
}

fn user_part(block: &ContentBlock) -> Result<Option<Part<'_>>, ProviderError> {
    let part = match block {
        ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
            Part::Text { text }
        }
        ContentBlock::Image { source } => picture(source),
        ContentBlock::Document { source } => match source {
            DocumentSource::PlainText { data } => Part::Text { text: data },
            DocumentSource::Base64Pdf { data } => Part::File {
                file: File {
                    filename: "document.pdf",
                    file_data: Location::Data {
                        media_type: "application/pdf",
                        data,
                    },
                },
            },
            DocumentSource::Url { .. } => {
                return Err(refuse(
                    "chat completions take no document by its address: send the document itself",
                ));
            }
        },
        ContentBlock::Other(value) => Part::Raw(value),
        _ => return Ok(None),
    };
    Ok(Some(part))
}

fn content(parts: Vec<Part<'_>>) -> Option<Content<'_>> {
    if parts.is_empty() {
        return None;
    }
    let texts = parts.iter().map(|part| match part {
        Part::Text { text } => Some(*text),
        _ => None,
    });
    match texts.collect() {
        Some(texts) => Some(Content::Text(Joined(texts))),
        None => Some(Content::Parts(parts)),
    }
}

fn assistant<'a>(
    message: &'a Message,
    ids: &mut CallIds<'a>,
    dialect: &'a Dialect,
) -> Option<ChatMessage<'a>> {
    let mut parts = Vec::new();
    let mut thoughts = Vec::new();
    let mut tool_calls = Vec::new();
    let mut own_field = None;
    for block in &message.content {
        match block {
            ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
                parts.push(Part::Text { text });
            }
            ContentBlock::Other(value) => parts.push(Part::Raw(value)),
            ContentBlock::Thinking {
                thinking, field, ..
            } => {
                own_field = field.as_deref().or(own_field);
                thoughts.push(thinking.as_str());
            }
            ContentBlock::ToolUse {
                id,
                own_id,
                name,
                input,
                extra,
            } => tool_calls.push(ChatCall {
                id: ids.call(id, own_id.as_deref()),
                name,
                input,
                extra: extra.as_ref(),
            }),
            _ => {}
        }
    }
    let content = content(parts);
    if content.is_none() && tool_calls.is_empty() {
        return None;
    }
    // Servers that reason between calls reject those whose reasoning does not come back.
    let field = match dialect.reasoning_field.as_deref() {
        Some(field) => Some(field).filter(|field| !field.is_empty()),
        None => own_field.filter(|_| !tool_calls.is_empty()),
    };
    Some(ChatMessage::Assistant {
        content,
        reasoning: field
            .filter(|_| !thoughts.is_empty())
            .map(|field| Reasoning {
                field,
                text: Joined(thoughts),
            }),
        tool_calls,
    })
}
