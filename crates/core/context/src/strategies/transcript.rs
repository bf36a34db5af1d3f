//! A conversation as text, for a model that summarises it.

use std::fmt::Write as _;

use neuron_types::{ContentBlock, ContentItem, DocumentSource, Message, Role};
use serde_json::Value;

/// A longer piece of text is rendered without its middle: what a summary needs of a file is rarely there.
const PIECE_BYTES: usize = 4_000;
/// How much of [`PIECE_BYTES`] is the beginning.
const HEAD_BYTES: usize = 3_000;

/// What a provider's own summary is called.
const COMPACTION: &str = "summary of what came before";

/// Renders the messages, a paragraph a block. Thinking and blocks that only a provider can read are left out.
pub(crate) fn render(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        let speaker = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "operator",
        };
        for block in &message.content {
            render_block(&mut text, speaker, block);
        }
    }
    text
}

fn render_block(text: &mut String, speaker: &str, block: &ContentBlock) {
    match block {
        ContentBlock::Text(said) => paragraph(text, speaker, said),
        ContentBlock::Compaction { content } => paragraph(text, COMPACTION, content),
        ContentBlock::ToolUse { name, input, .. } => {
            paragraph(text, &format!("call of {name}"), &input.to_string());
        }
        ContentBlock::ToolResult(result) => {
            let label = if result.is_error {
                format!("failed result of {}", result.name)
            } else {
                format!("result of {}", result.name)
            };
            for item in &result.content {
                match item {
                    ContentItem::Text(answer) => paragraph(text, &label, answer),
                    _ => paragraph(text, &label, "(a picture)"),
                }
            }
        }
        ContentBlock::Image { .. } => paragraph(text, speaker, "(a picture)"),
        ContentBlock::Document { source } => match source {
            DocumentSource::PlainText { data } => {
                paragraph(text, &format!("document of {speaker}"), data);
            }
            DocumentSource::Base64Pdf { .. } => paragraph(text, speaker, "(a document)"),
            DocumentSource::Url { url } => {
                paragraph(text, speaker, &format!("(a document at {url})"));
            }
        },
        ContentBlock::Other(block) => {
            // A provider's summary that comes with a part that only the provider can read.
            let kind = block.get("type").and_then(Value::as_str);
            let content = block.get("content").and_then(Value::as_str);
            if let (Some("compaction"), Some(content)) = (kind, content) {
                paragraph(text, COMPACTION, content);
            }
        }
        _ => {}
    }
}

fn paragraph(text: &mut String, label: &str, piece: &str) {
    if piece.trim().is_empty() {
        return;
    }
    let _infallible = write!(text, "[{label}] ");
    push_clipped(text, piece);
    text.push_str("\n\n");
}

/// Appends the piece, without its middle if it is long.
pub(crate) fn push_clipped(text: &mut String, piece: &str) {
    if piece.len() <= PIECE_BYTES {
        text.push_str(piece);
        return;
    }
    let head = piece.floor_char_boundary(HEAD_BYTES);
    let tail = piece.ceil_char_boundary(piece.len().saturating_sub(PIECE_BYTES - HEAD_BYTES));
    text.push_str(piece.get(..head).unwrap_or_default());
    let _infallible = write!(text, "\n[{} bytes left out]\n", tail.saturating_sub(head));
    text.push_str(piece.get(tail..).unwrap_or_default());
}
