//! A small deterministic model that needs no network.
//!
//! It looks for a few verbs in the newest prompt (list, show, read, search, run, write), plans the tool calls
//! that they ask for, and answers with what came of them. It uses the tools that a request offers and no
//! others, and it says what it could not do. There is no language model behind it.

use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, ContentItem, Message, Provider,
    ProviderError, Role, StopReason, TokenUsage, ToolResultBlock,
};

use self::plan::{Ask, plan};

mod answer;
mod plan;
mod words;

/// The name of the demo model.
pub const DEMO_MODEL: &str = "demo";

/// A model that plans tool calls from the words of the prompt.
///
/// The same request always gets the same answer. Its token counts are estimates, four characters a token.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemoModel;

impl Provider for DemoModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let task = Task::read(&request.messages);
        let offered = |ask: &Ask| request.tools.iter().any(|tool| tool.name == ask.tool());
        let calls = task.next_calls(offered);
        let (content, stop_reason) = if calls.is_empty() {
            let text = answer::compose(&task, offered);
            (vec![ContentBlock::Text(text)], StopReason::EndTurn)
        } else {
            (calls, StopReason::ToolUse)
        };
        let message = Message {
            role: Role::Assistant,
            content,
        };
        Ok(CompletionResponse {
            id: format!("demo-{}", request.messages.len()),
            model: DEMO_MODEL.to_owned(),
            usage: TokenUsage {
                input_tokens: request.messages.iter().map(tokens).sum(),
                output_tokens: tokens(&message),
                ..TokenUsage::default()
            },
            message,
            stop_reason,
            cost_usd: None,
            extra: None,
        })
    }
}

/// The newest prompt, what it asks for, and what has been done of it.
struct Task<'a> {
    turns: Vec<Vec<Ask>>,
    /// Where the prompt stands in the conversation.
    position: usize,
    /// The turns that were called already.
    done: usize,
    results: Vec<&'a ToolResultBlock>,
}

impl<'a> Task<'a> {
    fn read(messages: &'a [Message]) -> Self {
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
    fn next_calls(&self, offered: impl Fn(&Ask) -> bool) -> Vec<ContentBlock> {
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
    fn asks(&self) -> impl Iterator<Item = (usize, usize, &Ask)> {
        self.turns.iter().zip(1..).flat_map(|(asks, turn)| {
            asks.iter()
                .zip(1..)
                .map(move |(ask, place)| (turn, place, ask))
        })
    }

    fn result(&self, turn: usize, place: usize) -> Option<&'a ToolResultBlock> {
        let id = self.call_id(turn, place);
        self.results
            .iter()
            .copied()
            .find(|result| result.tool_use_id == id)
    }

    /// Unique in the conversation, and enough to tell how far a task is without keeping anything.
    fn call_id(&self, turn: usize, place: usize) -> String {
        format!("demo-{}-{turn}-{place}", self.position)
    }
}

fn is_prompt(message: &Message) -> bool {
    message.role == Role::User
        && message
            .content
            .iter()
            .any(|block| matches!(block, ContentBlock::Text(text) if !text.starts_with("[Summary")))
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

fn tokens(message: &Message) -> u64 {
    let characters: usize = message.content.iter().map(characters).sum();
    u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX)
}

fn characters(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => text.len(),
        ContentBlock::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
        ContentBlock::ToolResult(result) => text_of(result).len(),
        _ => 0,
    }
}

/// The text that a tool result holds.
fn text_of(result: &ToolResultBlock) -> String {
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
