//! Thinking after a context edit.

use neuron_types::{ContentBlock, Message};

/// Removes the thinking that is bound to its prefix from `messages[from..]`, since an edit changed that
/// prefix. A message that held nothing else goes with it, because a provider refuses an empty one.
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

/// Thinking that a provider signed or encrypted: it refuses a request in which something before such a
/// block changed. Thinking without a signature is bound to nothing, and some providers want it back.
fn is_bound(block: &ContentBlock) -> bool {
    matches!(
        block,
        ContentBlock::RedactedThinking { .. }
            | ContentBlock::Thinking {
                signature: Some(_),
                ..
            }
    )
}

fn is_blank(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Text(text) if text.trim().is_empty())
}
