//! What a prompt asks of the demo model, and what has been done of it.

use neuron_types::{ContentBlock, ContentItem, Message, Role, ToolResultBlock};

use super::plan::{Ask, plan};

/// The newest prompt, what it asks for, and what has been done of it.
pub(super) struct Task<'a> {
    turns: Vec<Vec<Ask>>,
    /// Where the prompt stands in the conversation.
    position: usize,
    /// The turns that were called already.
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

    /// The calls of the next turn in which a tool is offered; none where everything is done.
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

    /// What is asked for, with its turn and its place there, both counted from 1.
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

    /// Unique in the conversation, and enough to tell how far a task is without keeping anything.
    pub(super) fn call_id(&self, turn: usize, place: usize) -> String {
        format!("demo-{}-{turn}-{place}", self.position)
    }
}

/// The text that a tool result holds.
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

/// Whether the loop says this to the model beside the prompts: what a compaction left, and reminders.
fn is_said_by_the_loop(text: &str) -> bool {
    text.starts_with("[Summary") || text.starts_with("<system-reminder>")
}

/// The turn that a call of the demo model belongs to.
fn turn_of(block: &ContentBlock) -> Option<usize> {
    match block {
        ContentBlock::ToolUse { id, .. } => {
            let mut parts = id.strip_prefix("demo-")?.split('-');
            parts.nth(1)?.parse().ok()
        }
        _ => None,
    }
}
