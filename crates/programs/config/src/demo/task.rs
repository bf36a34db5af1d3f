//! The newest prompt as the demo model understands it, and its progress.

use neuron_types::{ContentBlock, ContentItem, Message, Role, ToolResultBlock};

use super::plan::{Ask, plan};

/// The newest prompt, its requests, and its progress.
pub(super) struct Task<'a> {
    turns: Vec<Vec<Ask>>,
    /// Where the prompt stands in the conversation.
    position: usize,
    /// The number of turns that were called already.
    done: usize,
    results: Vec<&'a ToolResultBlock>,
}

impl<'a> Task<'a> {
    pub(super) fn read(messages: &'a [Message]) -> Self {
        let prompt = messages
            .iter()
            .enumerate()
            .rev()
            .find(|(_, message)| is_prompt(message));
        let (position, turns) = prompt.map_or_else(Default::default, |(position, message)| {
            (position, plan(&message.text()))
        });
        let since = messages.get(position + 1..).unwrap_or_default();
        let blocks = || since.iter().flat_map(|message| &message.content);
        let done = blocks().filter_map(turn_of).max().unwrap_or_default();
        let results = blocks()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect();
        Self {
            turns,
            position,
            done,
            results,
        }
    }

    /// Returns the calls of the next turn in which a tool is offered; empty if everything is done.
    pub(super) fn next_calls(&self, offered: impl Fn(&Ask) -> bool) -> Vec<ContentBlock> {
        self.asks()
            .filter(|(turn, _, ask)| *turn > self.done && offered(ask))
            .scan(None, |first, (turn, place, ask)| {
                let same = *first.get_or_insert(turn) == turn;
                same.then(|| {
                    ContentBlock::tool_use(self.call_id(turn, place), ask.tool(), ask.input())
                })
            })
            .collect()
    }

    /// Returns the requests, with their turn and their place in it, both counted from 1.
    pub(super) fn asks(&self) -> impl Iterator<Item = (usize, usize, &Ask)> {
        self.turns.iter().zip(1..).flat_map(|(asks, turn)| {
            asks.iter()
                .zip(1..)
                .map(move |(ask, place)| (turn, place, ask))
        })
    }

    pub(super) fn result(&self, turn: usize, place: usize) -> Option<&'a ToolResultBlock> {
        let id = self.call_id(turn, place);
        self.results
            .iter()
            .copied()
            .find(|result| result.tool_use_id == id)
    }

    /// Returns an id that is unique in the conversation. The ids alone show how far a task is, without any state.
    pub(super) fn call_id(&self, turn: usize, place: usize) -> String {
        format!("demo-{}-{turn}-{place}", self.position)
    }
}

/// Returns the text that a tool result holds.
pub(super) fn text_of(result: &ToolResultBlock) -> String {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|item| match item {
            ContentItem::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

fn is_prompt(message: &Message) -> bool {
    message.role == Role::User
        && message
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::Text(text) if !is_said_by_the_loop(text)))
}

/// Returns whether the text comes from the loop and is not a prompt: the result of a compaction, or a reminder.
fn is_said_by_the_loop(text: &str) -> bool {
    text.starts_with("[Summary") || text.starts_with("<system-reminder>")
}

/// Returns the turn that a call of the demo model belongs to.
fn turn_of(block: &ContentBlock) -> Option<usize> {
    match block {
        ContentBlock::ToolUse { id, .. } => {
            let mut parts = id.strip_prefix("demo-")?.split('-');
            parts.nth(1)?.parse().ok()
        }
        _ => None,
    }
}
