//! Which messages a strategy may take away: whole exchanges between the first user message and the newest.

use std::{collections::BTreeSet, ops::Range};

use neuron_types::{ContentBlock, ContextError, Message, Role};

/// The messages that are older than the `keep` newest and come after the first user message.
///
/// Both ends lie where the conversation can be parted, so the range holds each tool call together with its
/// result, and consecutive assistant messages, which are one answer in pieces, together. Where `keep` would
/// part them, more than `keep` messages stay.
///
/// # Errors
///
/// [`ContextError::CompactionFailed`] if there is no such message.
pub(crate) fn older(messages: &[Message], keep: usize) -> Result<Range<usize>, ContextError> {
    let Some(first) = messages
        .iter()
        .position(|message| message.role == Role::User)
    else {
        return Err(ContextError::CompactionFailed(
            "the conversation has no user message to keep: start it with one".to_owned(),
        ));
    };
    let newest = messages.len().saturating_sub(keep);
    let mut partings = partings(messages)
        .into_iter()
        .filter(|&index| index > first && index <= newest);
    let start = partings.next();
    match (start, partings.next_back()) {
        (Some(start), Some(end)) => Ok(start..end),
        _ => Err(ContextError::CompactionFailed(format!(
            "nothing lies between the first user message and the newest {keep} messages: lower keep or \
             raise at_tokens"
        ))),
    }
}

/// The places, oldest first, where everything before a message can go without what follows missing it.
///
/// `messages.len()` is one of them if no call is open at the end.
fn partings(messages: &[Message]) -> Vec<usize> {
    let mut places = Vec::with_capacity(messages.len().saturating_add(1));
    let mut open = BTreeSet::new();
    let mut previous = None;
    for (index, message) in messages.iter().enumerate() {
        let one_answer = message.role == Role::Assistant && previous == Some(Role::Assistant);
        if open.is_empty() && !one_answer {
            places.push(index);
        }
        for block in &message.content {
            match block {
                ContentBlock::ToolUse { id, .. } => {
                    open.insert(id.as_str());
                }
                ContentBlock::ToolResult(result) => {
                    open.remove(result.tool_use_id.as_str());
                }
                _ => {}
            }
        }
        previous = Some(message.role);
    }
    if open.is_empty() {
        places.push(messages.len());
    }
    places
}
