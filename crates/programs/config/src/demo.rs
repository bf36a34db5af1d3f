//! A small deterministic model that needs no network.
//!
//! The model looks for a few verbs in the newest prompt (list, show, read, search, run, write), plans the tool calls
//! that they ask for, and answers with the results. It uses only the tools that a request offers, and it reports what
//! it could not do. There is no language model behind it.

use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, Message, Provider, ProviderError,
    StopReason, TokenUsage,
};

use self::{
    plan::Ask,
    task::{Task, text_of},
};

mod answer;
mod plan;
mod task;
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
        let message = Message::answer(content);
        Ok(CompletionResponse {
            left_out: Vec::new(),
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
            mismatch: None,
            guarded: None,
            spent_before: None,
        })
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
