//! Thinking after a context edit.

use neuron_types::{ContentBlock, Message};
use serde_json::Value;

/// Removes the thinking that is bound to its prefix from `messages[from..]`, since an edit changed that prefix. A
/// message that held nothing else is removed too, because a provider rejects an empty message.
pub(crate) fn strip_bound(messages: &mut Vec<Message>, from: usize) {
    let mut index = 0_usize;
    messages.retain_mut(|message| {
        let edited = index >= from;
        index += 1;
        if !edited {
            return true;
        }
        let blocks = message.content.len();
        message.content.retain(|block| !is_bound(block));
        message.content.len() == blocks || !message.content.iter().all(is_blank)
    });
}

/// Returns whether a provider signed or encrypted the thinking: such a provider rejects a request in which something
/// before the block changed. Thinking without a signature is bound to nothing, and some providers want it back.
///
/// A provider crate keeps a block of thinking as it came if the block has unknown fields. OpenAI's items are called
/// `reasoning`, and must stay with the call that they led to.
fn is_bound(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::RedactedThinking { .. } => true,
        ContentBlock::Thinking { signature, .. } => signature.is_some(),
        ContentBlock::Other(block) => {
            let kind = block.get("type").and_then(Value::as_str);
            matches!(kind, Some("thinking" | "redacted_thinking"))
        }
        _ => false,
    }
}

fn is_blank(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text(text) if text.trim().is_empty())
}
