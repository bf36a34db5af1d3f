//! Which messages a strategy may take away: whole exchanges between the first user message and the newest.

use std::{collections::BTreeSet, ops::Range};

use neuron_types::{ContentBlock, ContextError, Message, Role};

/// The messages that are older than the `keep` newest and come after the first user message, and after what
/// an operator said right behind it.
///
/// Both ends lie where the conversation can be parted, so the range holds each tool call together with its
/// result, consecutive assistant messages, which are one answer in pieces, together, and what an operator
/// said together with the user message before it. Where `keep` would
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
    let said = messages.iter().skip(first + 1);
    let first = first + said.take_while(|message| is_operator(message)).count();
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

/// Takes these messages out and puts one in their place, or none.
///
/// What an operator said among them is an instruction, which stays: as one message behind the first user
/// message.
pub(crate) fn replace(messages: &mut Vec<Message>, older: Range<usize>, instead: Option<Message>) {
    let start = older.start;
    let said: Vec<ContentBlock> = messages
        .splice(older, instead)
        .filter(is_operator)
        .flat_map(|message| message.content)
        .collect();
    if said.is_empty() {
        return;
    }
    let before = start.checked_sub(1).and_then(|last| messages.get_mut(last));
    match before.filter(|message| is_operator(message)) {
        Some(message) => message.content.extend(said),
        None => {
            let role = Role::System;
            messages.insert(
                start,
                Message {
                    role,
                    content: said,
                },
            );
        }
    }
}

/// Returns whether the message is an instruction of the one who runs the agent.
pub(crate) fn is_operator(message: &Message) -> bool {
    message.role == Role::System
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
        if open.is_empty() && !one_answer && !is_operator(message) {
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
