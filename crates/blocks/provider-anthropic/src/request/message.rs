use std::borrow::Cow;

use neuron_provider_http::{CallIdRule, CallIds};
use neuron_types::{CompletionRequest, ContentBlock, RequestHead, Role};
use serde::Serialize;
use serde_json::Value;

use crate::{
    container,
    request::{
        block::{Block, Input, Rest, ResultItem},
        search,
    },
};

/// A message as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Vec<Block<'a>>,
}

impl WireMessage<'_> {
    /// Returns whether the API takes an operator's message right after this one.
    pub(crate) fn takes_operator(&self) -> bool {
        self.role == "user" || self.content.last().is_some_and(Block::is_of_server_tool)
    }
}

/// Returns the conversation with consecutive messages of one role merged, tool results first in theirs, what an
/// operator says behind what a user says at the same time, and without what the API rejects.
///
/// Thinking is left out after a call whose arguments cannot go back as they came, and after a search that found tools which are
/// gone: it is bound to what was there before it.
pub(crate) fn messages(request: &CompletionRequest) -> Vec<WireMessage<'_>> {
    let conversation = &request.messages;
    let mut messages: Vec<WireMessage<'_>> = Vec::with_capacity(conversation.len());
    let mut altered = false;
    let mut ids = CallIds::new(CallIdRule::Plain);
    for message in conversation {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        let content = blocks(&message.content, &request.head, &mut ids, &mut altered);
        if content.is_empty() {
            continue;
        }
        let operator = match messages.last() {
            Some(last) if role == "user" && last.role == "system" => messages.pop(),
            _ => None,
        };
        append(&mut messages, role, content);
        messages.extend(operator);
    }
    for message in &mut messages {
        if message.role == "user" {
            message
                .content
                .sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
        }
    }
    messages
}

fn append<'a>(messages: &mut Vec<WireMessage<'a>>, role: &'static str, content: Vec<Block<'a>>) {
    match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.content.extend(content),
        None => messages.push(WireMessage { role, content }),
    }
}

fn blocks<'a>(
    content: &'a [ContentBlock],
    head: &RequestHead,
    ids: &mut CallIds<'a>,
    altered: &mut bool,
) -> Vec<Block<'a>> {
    let mut blocks = Vec::with_capacity(content.len());
    let mut rest = None;
    for block in content {
        let rest_of_text = rest.take();
        match block {
            ContentBlock::Other(value) if container::is_block(value) => rest = rest_of_text,
            ContentBlock::Other(value) if is_rest_of_text(value) => rest = Some(value),
            ContentBlock::Text(text) => blocks.extend(text_block(text, rest_of_text)),
            other => {
                let block = plain_block(other, head, ids);
                let is_other = matches!(block, Some(Block::Raw(Cow::Owned(_))));
                blocks.extend(block.filter(|block| !(*altered && block.is_thinking())));
                *altered |= is_other || is_altered(other);
            }
        }
    }
    blocks
}

/// Returns whether this is a call whose arguments are no object: the API takes arguments in an object only.
fn is_altered(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolUse { input, .. } if !input.is_object() && !input.is_null())
}

/// Returns whether this is a received text block without its text, which is the next block.
fn is_rest_of_text(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("text") && value.get("text").is_none()
}

fn text_block<'a>(text: &'a str, rest: Option<&'a Value>) -> Option<Block<'a>> {
    let rest = rest.map_or(Rest::NONE, |rest| Rest::of(rest, &["type"]));
    (!text.trim().is_empty()).then_some(Block::Text {
        text,
        rest,
        cache_control: None,
    })
}

fn plain_block<'a>(
    block: &'a ContentBlock,
    head: &RequestHead,
    ids: &mut CallIds<'a>,
) -> Option<Block<'a>> {
    let block = match block {
        ContentBlock::Text(text) => return text_block(text, None),
        ContentBlock::Thinking {
            thinking,
            signature,
            ..
        } => Block::Thinking {
            thinking,
            signature: signature.as_deref()?,
        },
        ContentBlock::RedactedThinking { data } => Block::RedactedThinking { data },
        ContentBlock::ToolUse {
            id,
            own_id,
            name,
            input,
            extra,
        } => Block::ToolUse {
            id: ids.call(id, own_id.as_deref()),
            name,
            input: Input(input),
            rest: extra.as_ref().map_or(Rest::NONE, |extra| {
                Rest::of(extra, &["type", "id", "name", "input"])
            }),
            cache_control: None,
        },
        ContentBlock::ToolResult(result) => Block::ToolResult {
            tool_use_id: ids.answered(&result.tool_use_id),
            content: result.content.iter().filter_map(ResultItem::new).collect(),
            is_error: result.is_error,
            cache_control: None,
        },
        ContentBlock::Image { source } => Block::Image {
            source: source.into(),
            cache_control: None,
        },
        ContentBlock::Document { source } => Block::Document {
            source: source.into(),
            cache_control: None,
        },
        ContentBlock::Compaction { content } => Block::Compaction {
            content,
            cache_control: None,
        },
        ContentBlock::Other(value) => Block::Raw(search::known(value, head)),
        _ => return None,
    };
    Some(block)
}
