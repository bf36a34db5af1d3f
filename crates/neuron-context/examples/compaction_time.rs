//! How long each strategy takes over a conversation of 5,000 messages:
//! `cargo run --release -p neuron-context --example compaction_time`.

use std::{future::Future, hint::black_box, task::Poll, time::Instant};

use neuron_context::{SlidingWindow, Strategy, Summarization, ToolResultClearing};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, ContentItem, ContextPolicy, ContextRule,
    ContextStrategy, DurableError, Message, ModelHandle, Role, StopReason, TokenUsage,
    ToolResultBlock,
};

const TURNS: usize = 2_500;

struct Summarizer;

impl ModelHandle for Summarizer {
    async fn complete(
        &self,
        _request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        Ok(CompletionResponse {
            id: String::new(),
            model: String::new(),
            message: Message::assistant("Goal: read every file."),
            usage: TokenUsage::default(),
            stop_reason: StopReason::EndTurn,
            cost_usd: None,
            extra: None,
        })
    }
}

fn main() {
    measure("sliding_window", &SlidingWindow::new(10));
    measure("clear_tool_results", &ToolResultClearing::new(10));
    measure("summarize", &Summarization::new(10));
    let policy = ContextPolicy {
        rules: vec![
            ContextRule::ClearToolResults { keep: 10 },
            ContextRule::SlidingWindow { keep: 1_000 },
            ContextRule::Summarize {
                keep: 10,
                model: None,
            },
        ],
        at_tokens: None,
        ..ContextPolicy::default()
    };
    measure("all in order", &Strategy::from_policy(&policy));
}

fn measure(name: &str, strategy: &impl ContextStrategy) {
    let messages = conversation();
    let before = strategy.token_estimate(&messages);
    let start = Instant::now();
    let compacted = now(strategy.compact(black_box(messages), &Summarizer));
    let elapsed = start.elapsed();
    match compacted {
        Some(Ok(messages)) => println!(
            "{name}: {elapsed:.1?}, {before} -> {} tokens",
            strategy.token_estimate(&messages)
        ),
        other => println!("{name}: failed after {elapsed:.1?}: {other:?}"),
    }
}

fn conversation() -> Vec<Message> {
    let mut messages = vec![Message::user("Read every file.")];
    for turn in 0..TURNS {
        let id = format!("call_{turn}");
        messages.push(Message {
            role: Role::Assistant,
            content: vec![ContentBlock::tool_use(
                &id,
                "read_file",
                serde_json::json!({"path": format!("src/file_{turn}.rs")}),
            )],
        });
        messages.push(Message {
            role: Role::User,
            content: vec![ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: id,
                name: "read_file".to_owned(),
                content: vec![ContentItem::Text("let x = 1;\n".repeat(380))],
                is_error: false,
            })],
        });
    }
    messages
}

/// What a future that never waits comes to.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
