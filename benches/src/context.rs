//! How long each strategy takes to compact a long conversation.

use std::time::{Duration, Instant};

use neuron_context::{
    Composite, ContextSection, InjectionRule, InjectionTrigger, PersistentContext, SlidingWindow,
    Strategy, Summarization, SystemInjector, TokenCounter, ToolResultClearing,
};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, ContentItem, ContextPolicy, ContextRule,
    ContextStrategy, DurableError, Message, ModelHandle, RequestHead, Role, ToolResultBlock,
};
use serde_json::json;

use crate::{
    failure::Failure,
    model::answer,
    report::{judged, median, micros},
};

/// A prompt, and a call and its result in each turn after it.
const MESSAGES: usize = 5_000;
const ROUNDS: usize = 21;
const TARGET_MS: f64 = 50.0;
/// The size to which clearing tool results alone suffices: all messages stay then.
const ALL_MESSAGES: u64 = 300_000;

pub(crate) async fn measure() -> Result<(), Failure> {
    let conversation = conversation();
    let conversation = conversation.as_slice();
    let clearing = ToolResultClearing {
        at_tokens: ALL_MESSAGES,
        ..ToolResultClearing::new(10)
    };
    let chain = Composite::new(ToolResultClearing::new(10), SlidingWindow::new(1_000))
        .then(Summarization::new(10));
    let policy = ContextPolicy {
        rules: vec![
            ContextRule::ClearToolResults { keep: 10 },
            ContextRule::SlidingWindow { keep: 1_000 },
            ContextRule::Summarize {
                keep: 10,
                model: None,
                summary_prompt: None,
            },
        ],
        at_tokens: Some(10_000),
        ..ContextPolicy::default()
    };
    let reminder = InjectionRule::new(InjectionTrigger::EveryNTurns(5), "Keep to the plan.");
    let injected = SystemInjector::new().rule(reminder);
    let injected = injected.over(SlidingWindow::new(10));
    strategy("sliding_window", &SlidingWindow::new(10), conversation).await?;
    strategy("tool_result_clearing", &clearing, conversation).await?;
    strategy("summarization", &Summarization::new(10), conversation).await?;
    strategy("composite", &chain, conversation).await?;
    let rules = Strategy::from_policy(&policy);
    strategy("strategy_of_all_rules", &rules, conversation).await?;
    strategy("system_injector", &injected, conversation).await?;
    persistent(conversation).await
}

/// Measures the estimate, the decision and the compaction, as the loop requests them.
async fn strategy(
    name: &str,
    strategy: &impl ContextStrategy,
    conversation: &[Message],
) -> Result<(), Failure> {
    let mut times = Vec::new();
    let mut left = 0;
    for _ in 0..ROUNDS {
        let messages = conversation.to_vec();
        let start = Instant::now();
        let messages = compact(strategy, messages).await?;
        times.push(start.elapsed());
        left = messages.len();
    }
    report(name, times, left);
    Ok(())
}

/// Measures the same as [`strategy`], with a request whose instructions have sections that must stay.
async fn persistent(conversation: &[Message]) -> Result<(), Failure> {
    let strategy = SlidingWindow::new(10);
    let mut sections = PersistentContext::new();
    for section in 0..20 {
        let content = "Never push to main.\n".repeat(100);
        let label = format!("Rules {section}");
        sections = sections.section(ContextSection::new(label, content));
    }
    let counter = TokenCounter::default();
    let mut times = Vec::new();
    let mut left = 0;
    for _ in 0..ROUNDS {
        let mut request = CompletionRequest::new(RequestHead::default(), conversation.to_vec());
        let start = Instant::now();
        sections.add_to(request.head_mut());
        let before = counter.estimate_request(&request);
        let messages = request.messages.into_messages();
        request.messages = compact(&strategy, messages).await?.into();
        let after = counter.estimate_request(&request);
        times.push(start.elapsed());
        left = request.messages.len();
        if after >= before || counter.estimate_text(&sections.render()) > after {
            return Err(format!("{before} tokens became {after}").into());
        }
    }
    report("persistent_context", times, left);
    Ok(())
}

async fn compact(
    strategy: &impl ContextStrategy,
    messages: Vec<Message>,
) -> Result<Vec<Message>, Failure> {
    let tokens = strategy.token_estimate(&messages);
    if !strategy.should_compact(&messages, tokens) {
        return Err(format!("{tokens} tokens are not compacted").into());
    }
    Ok(strategy.compact(messages, &InstantModel).await?)
}

fn report(name: &str, times: Vec<Duration>, left: usize) {
    let ms = micros(median(times)) / 1e3;
    let figures = json!({
        "strategy": name,
        "ms": ms,
        "messages": MESSAGES,
        "messages_left": left,
        "rounds": ROUNDS,
    });
    judged("compaction", figures, "ms < 50", ms < TARGET_MS);
}

/// Returns an agent that reads a file of 4.5 KB in each turn.
fn conversation() -> Vec<Message> {
    let mut messages = vec![Message::user("Read every file.")];
    for turn in 0..MESSAGES / 2 {
        let id = format!("call_{turn}");
        let input = json!({"path": format!("src/file_{turn}.rs")});
        messages.push(Message {
            role: Role::Assistant,
            content: vec![ContentBlock::tool_use(&id, "read_file", input)],
        });
        messages.push(Message {
            role: Role::User,
            content: vec![ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: id,
                name: "read_file".to_owned(),
                content: vec![ContentItem::Text("let x = 1;\n".repeat(410))],
                is_error: false,
            })],
        });
    }
    messages
}

/// A model that summarises at once: the benchmark measures the time to ask for the summary and to use it.
struct InstantModel;

impl ModelHandle for InstantModel {
    async fn complete(&self, _: CompletionRequest) -> Result<CompletionResponse, DurableError> {
        Ok(answer(1, 1))
    }
}
