use std::{borrow::Cow, collections::BTreeSet};

use neuron_provider_http::{CallIdRule, CallIds, ResultText};
use neuron_types::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::{arguments::Arguments, location::Location, responses::message::MessageItem};

/// The type of a call whose input is plain text.
pub(crate) const CUSTOM_CALL: &str = "custom_tool_call";

/// Fields of a call that have a place of their own.
const PLACED: &[&str] = &["type", "call_id", "name", "arguments", "input"];

/// An entry of the conversation as it is sent.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    CustomToolCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    #[serde(untagged)]
    Call(Call<'a>),
    #[serde(untagged)]
    Replayed(MessageItem<'a>),
    #[serde(untagged)]
    Raw(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Output<'a> {
    Text(ResultText<'a>),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part<'a> {
    InputText {
        text: &'a str,
    },
    InputImage {
        image_url: Location<'a>,
        detail: &'static str,
    },
    InputFile {
        #[serde(flatten)]
        file: File<'a>,
    },
    #[serde(untagged)]
    Raw(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum File<'a> {
    Inline {
        filename: &'static str,
        file_data: Location<'a>,
    },
    Remote {
        file_url: &'a str,
    },
}

/// A call as it is sent.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    call_id: Cow<'a, str>,
    name: &'a str,
    input: &'a Value,
    extra: Option<&'a Value>,
}

impl Call<'_> {
    fn is_custom(&self) -> bool {
        let kind = self.extra.and_then(|extra| extra.get("type")?.as_str());
        kind == Some(CUSTOM_CALL)
    }
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, field) = if self.is_custom() {
            (CUSTOM_CALL, "input")
        } else {
            ("function_call", "arguments")
        };
        let arguments = Arguments {
            input: self.input,
            extra: self.extra,
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry("call_id", &self.call_id)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry(field, &arguments)?;
        let extra = self.extra.and_then(Value::as_object);
        for (name, value) in extra.into_iter().flatten() {
            if !PLACED.contains(&name.as_str()) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// Returns the conversation as one flat list.
pub(crate) fn items(conversation: &[Message]) -> Vec<Item<'_>> {
    let mut items = Vec::with_capacity(conversation.len());
    let mut ids = CallIds::new(CallIdRule::Plain);
    let mut custom_calls = BTreeSet::new();
    for group in conversation.chunk_by(|a, b| a.role == b.role) {
        if group.first().is_some_and(|first| first.role == Role::User) {
            let blocks = group.iter().flat_map(|message| &message.content);
            items.extend(blocks.filter_map(|block| output(block, &mut ids, &custom_calls)));
        }
        for message in group {
            match message.role {
                Role::User => said("user", &message.content, &mut items),
                Role::System => said("developer", &message.content, &mut items),
                Role::Assistant => {
                    answered(&message.content, &mut items, &mut ids, &mut custom_calls);
                }
            }
        }
    }
    items
}

/// Results follow the calls that they answer; what else is said comes after them.
fn output<'a>(
    block: &'a ContentBlock,
    ids: &mut CallIds<'a>,
    custom_calls: &BTreeSet<Cow<'a, str>>,
) -> Option<Item<'a>> {
    let ContentBlock::ToolResult(result) = block else {
        return None;
    };
    let call_id = ids.answered(&result.tool_use_id);
    let output = output_of(result);
    Some(if custom_calls.contains(&call_id) {
        Item::CustomToolCallOutput { call_id, output }
    } else {
        Item::FunctionCallOutput { call_id, output }
    })
}

fn output_of(result: &ToolResultBlock) -> Output<'_> {
    let text = ResultText(result);
    if text.pictures().next().is_none() {
        return Output::Text(text);
    }
    let failed = result
        .is_error
        .then_some(Part::InputText { text: "error:" });
    let parts = result.content.iter().filter_map(|item| match item {
        ContentItem::Text(text) => Some(Part::InputText { text }),
        ContentItem::Image { source } => Some(picture(source)),
        _ => None,
    });
    Output::Parts(failed.into_iter().chain(parts).collect())
}

fn picture(source: &ImageSource) -> Part<'_> {
    Part::InputImage {
        image_url: source.into(),
        detail: "auto",
    }
}

/// Adds what a person or the operator says. Native blocks are parts of the message if their type is that of a part,
/// else items of their own.
fn said<'a>(role: &'static str, content: &'a [ContentBlock], items: &mut Vec<Item<'a>>) {
    let mut parts = Vec::with_capacity(content.len());
    for block in content {
        parts.extend(match block {
            ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
                Some(Part::InputText { text })
            }
            ContentBlock::Image { source } => Some(picture(source)),
            ContentBlock::Document { source } => Some(document(source)),
            ContentBlock::Other(value) if is_part(value) => Some(Part::Raw(value)),
            ContentBlock::Other(value) => {
                items.push(Item::Raw(value));
                None
            }
            _ => None,
        });
    }
    if !parts.is_empty() {
        let content = Content::Parts(parts);
        items.push(Item::Message { role, content });
    }
}

fn is_part(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.starts_with("input_"))
}

fn document(source: &DocumentSource) -> Part<'_> {
    let file = match source {
        DocumentSource::PlainText { data } => return Part::InputText { text: data },
        DocumentSource::Base64Pdf { data } => File::Inline {
            filename: "document.pdf",
            file_data: Location::Data {
                media_type: "application/pdf",
                data,
            },
        },
        DocumentSource::Url { url } => File::Remote { file_url: url },
    };
    Part::InputFile { file }
}

/// Adds what the model answered, item by item and in order.
fn answered<'a>(
    content: &'a [ContentBlock],
    items: &mut Vec<Item<'a>>,
    ids: &mut CallIds<'a>,
    custom_calls: &mut BTreeSet<Cow<'a, str>>,
) {
    let mut following = content;
    while let Some((block, rest)) = following.split_first() {
        following = rest;
        match block {
            ContentBlock::Other(value) => match MessageItem::new(value, &mut following) {
                Some(message) if message.is_bare() => {}
                Some(message) => items.push(Item::Replayed(message)),
                None => items.push(Item::Raw(value)),
            },
            ContentBlock::Text(text) if text.is_empty() => {}
            ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
                items.push(Item::Message {
                    role: "assistant",
                    content: Content::Text(text),
                });
            }
            ContentBlock::ToolUse {
                id,
                own_id,
                name,
                input,
                extra,
            } => {
                let call = Call {
                    call_id: ids.call(id, own_id.as_deref()),
                    name,
                    input,
                    extra: extra.as_ref(),
                };
                if call.is_custom() {
                    custom_calls.insert(call.call_id.clone());
                }
                items.push(Item::Call(call));
            }
            _ => {}
        }
    }
}
