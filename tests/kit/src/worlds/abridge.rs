//! Shortened conversations: keeping each of a hundred large ones would fill the memory, and passing on each of a
//! thousand turns would take longer than the run.

use neuron_types::{ContentBlock, ContentItem, Message, Role, ToolResultBlock};

/// More messages than any scenario reads.
const MOST: usize = 100;

const LONGEST: usize = 600;
const KEPT: usize = 20;

pub(crate) fn abridged(messages: &[Message]) -> Vec<Message> {
    newest(messages)
        .iter()
        .map(|message| Message {
            role: message.role,
            content: message.content.iter().map(block).collect(),
        })
        .collect()
}

/// Returns the newest messages, beginning with an answer of the model: so no result is without its call.
fn newest(messages: &[Message]) -> &[Message] {
    let from = messages.len().saturating_sub(MOST);
    if from == 0 {
        return messages;
    }
    let tail = &messages[from..];
    let answer = tail
        .iter()
        .position(|message| message.role == Role::Assistant);
    &tail[answer.unwrap_or_default()..]
}

fn block(block: &ContentBlock) -> ContentBlock {
    match block {
        ContentBlock::Text(text) => ContentBlock::Text(short(text)),
        ContentBlock::ToolResult(result) => ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: result.tool_use_id.clone(),
            name: result.name.clone(),
            content: result.content.iter().map(item).collect(),
            is_error: result.is_error,
        }),
        other => other.clone(),
    }
}

fn item(item: &ContentItem) -> ContentItem {
    match item {
        ContentItem::Text(text) => ContentItem::Text(short(text)),
        other => other.clone(),
    }
}

fn short(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(KEPT)];
    format!("{head}… ({} bytes)", text.len())
}
