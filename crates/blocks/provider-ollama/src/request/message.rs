use std::borrow::Cow;

use neuron_provider_http::{CallIdRule, CallIds, Joined, ResultText};
use neuron_types::{
    CompletionRequest, ContentBlock, DocumentSource, ImageSource, Message, ProviderError, Role,
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::{
    call::{SentCall, write_others},
    think::refuse,
};

/// A message as it is sent.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(crate) enum SentMessage<'a> {
    System {
        content: Joined<'a>,
    },
    User {
        content: Joined<'a>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<&'a str>,
    },
    Tool {
        content: ResultText<'a>,
        tool_name: &'a str,
        tool_call_id: Cow<'a, str>,
    },
    #[serde(untagged)]
    Assistant(Assistant<'a>),
}

/// The model's own message, with the fields that it came with.
#[derive(Debug, Default)]
pub(crate) struct Assistant<'a> {
    texts: Vec<&'a str>,
    thoughts: Vec<&'a str>,
    calls: Vec<SentCall<'a>>,
    others: Vec<&'a Map<String, Value>>,
}

/// Returns the instructions and the conversation.
pub(crate) fn messages(request: &CompletionRequest) -> Result<Vec<SentMessage<'_>>, ProviderError> {
    let mut sent = Vec::with_capacity(request.messages.len() + 1);
    sent.extend(Joined::instructions(request.system.as_ref()).map(system));
    let mut ids = CallIds::new(CallIdRule::Plain);
    for group in request.messages.chunk_by(|a, b| a.role == b.role) {
        match group.first().map(|message| message.role) {
            Some(Role::User) => user(group, &mut ids, &mut sent)?,
            Some(Role::Assistant) => {
                sent.extend(
                    group
                        .iter()
                        .filter_map(|message| assistant(message, &mut ids)),
                );
            }
            Some(Role::System) => sent.extend(group.iter().filter_map(|message| {
                let texts = message.content.iter().filter_map(text).collect();
                Joined::unless_empty(texts).map(system)
            })),
            None => {}
        }
    }
    Ok(sent)
}

/// Returns whether a message shows a picture.
pub(crate) fn has_picture(message: &Message) -> bool {
    message.content.iter().any(|block| match block {
        ContentBlock::Image { .. } => true,
        ContentBlock::ToolResult(result) => ResultText(result).pictures().next().is_some(),
        _ => false,
    })
}

fn system(content: Joined<'_>) -> SentMessage<'_> {
    SentMessage::System { content }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => Some(text),
        _ => None,
    }
}

/// Results follow the calls that they answer; what else is said comes after them.
fn user<'a>(
    group: &'a [Message],
    ids: &mut CallIds<'a>,
    sent: &mut Vec<SentMessage<'a>>,
) -> Result<(), ProviderError> {
    let mut shown = Vec::new();
    for block in group.iter().flat_map(|message| &message.content) {
        if let ContentBlock::ToolResult(result) = block {
            let content = ResultText(result);
            for source in content.pictures() {
                shown.push(picture(source)?);
            }
            sent.push(SentMessage::Tool {
                content,
                tool_name: &result.name,
                tool_call_id: ids.answered(&result.tool_use_id),
            });
        }
    }
    if !shown.is_empty() {
        sent.push(SentMessage::User {
            content: Joined(Vec::new()),
            images: shown,
        });
    }
    for message in group {
        let mut texts = Vec::new();
        let mut images = Vec::new();
        for block in &message.content {
            match block {
                ContentBlock::Image { source } => images.push(picture(source)?),
                ContentBlock::Document {
                    source: DocumentSource::PlainText { data },
                } => texts.push(data.as_str()),
                ContentBlock::Document { .. } => {
                    return Err(refuse(
                        "ollama reads no documents but plain text: send the text",
                    ));
                }
                other => texts.extend(text(other)),
            }
        }
        if !texts.is_empty() || !images.is_empty() {
            sent.push(SentMessage::User {
                content: Joined(texts),
                images,
            });
        }
    }
    Ok(())
}

fn picture(source: &ImageSource) -> Result<&str, ProviderError> {
    match source {
        ImageSource::Base64 { data, .. } => Ok(data),
        ImageSource::Url { .. } => Err(refuse(
            "ollama takes no picture by its address: send the picture itself",
        )),
    }
}

fn assistant<'a>(message: &'a Message, ids: &mut CallIds<'a>) -> Option<SentMessage<'a>> {
    let mut sent = Assistant::default();
    for block in &message.content {
        match block {
            ContentBlock::Thinking {
                thinking,
                signature: None,
                ..
            } => sent.thoughts.push(thinking),
            ContentBlock::ToolUse {
                id,
                own_id,
                name,
                input,
                extra,
            } => sent.calls.push(SentCall {
                id: ids.call(id, own_id.as_deref()),
                name,
                input,
                extra: extra.as_ref(),
            }),
            ContentBlock::Other(Value::Object(fields)) => sent.others.push(fields),
            other => sent.texts.extend(text(other)),
        }
    }
    let says_something =
        !sent.texts.is_empty() || !sent.calls.is_empty() || !sent.others.is_empty();
    says_something.then_some(SentMessage::Assistant(sent))
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = vec!["role", "content", "thinking", "tool_calls"];
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", &Joined(self.texts.clone()))?;
        if !self.thoughts.is_empty() {
            map.serialize_entry("thinking", &Joined(self.thoughts.clone()))?;
        }
        if !self.calls.is_empty() {
            map.serialize_entry("tool_calls", &self.calls)?;
        }
        for fields in &self.others {
            write_others(&mut map, Some(fields), &written)?;
            written.extend(fields.keys().map(String::as_str));
        }
        map.end()
    }
}
