//! An executor room with a scripted model and scripted tools, which remember their calls.
//!
//! It stays when a door is dropped, as the world does when a process dies.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_executor::{EventSink, Executor, RetryNotice};
pub(crate) use neuron_testing::effects::eventually;
use neuron_testing::effects::{definition_of, options_of};
use neuron_tool::ToolRegistry;
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, FailureKind, Message, Provider,
    ProviderError, RecordedEvent, RequestHead, StepId, StopReason, TokenUsage, ToolCall,
    ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// How long a tool asks to wait, and the delays of a policy.
const SECOND: Duration = Duration::from_secs(1); // Only compared, or the clock is paused.
/// More than any step of a test takes.
const HOUR: Duration = Duration::from_secs(3600); // Every step ends long before.

/// What the model or a tool does when it is called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Act {
    /// Answers.
    Answer,
    /// Never answers.
    Hang,
    /// Answers when the test releases it.
    Held,
    /// Fails with this kind, and asks to wait that long.
    Fail(FailureKind, Option<Duration>),
}

impl Act {
    pub(crate) fn fail(kind: FailureKind) -> Self {
        Self::Fail(kind, None)
    }
}

struct Script {
    acts: Mutex<VecDeque<Act>>,
    /// Acts that are chosen by what is called, so that the order of concurrent calls does not matter.
    dealt: Vec<Act>,
    calls: Mutex<Vec<String>>,
    /// How many of the calls that are held may continue.
    going_on: Semaphore,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            acts: Mutex::default(),
            dealt: Vec::new(),
            calls: Mutex::default(),
            going_on: Semaphore::new(0),
        }
    }
}

impl Script {
    /// Remembers the call, holds it if it is to be held, and returns what to do then; a script that is over answers.
    async fn called(&self, what: String) -> Act {
        match self.noted(what) {
            Act::Held => {
                // The semaphore is never closed.
                self.going_on.acquire().await.unwrap().forget();
                Act::Answer
            }
            act => act,
        }
    }

    fn noted(&self, what: String) -> Act {
        let mut calls = self.calls.lock().unwrap();
        let before = calls.iter().filter(|call| **call == what).count();
        let hand = before + what.bytes().map(usize::from).sum::<usize>();
        calls.push(what);
        let act = self.acts.lock().unwrap().pop_front();
        let dealt = hand.checked_rem(self.dealt.len());
        act.or(dealt.map(|index| self.dealt[index]))
            .unwrap_or(Act::Answer)
    }
}

/// A model, tools named after their effects (`read`, `put`, `write`), and all calls of them.
#[derive(Clone, Default)]
pub(crate) struct Room {
    script: Arc<Script>,
    pub(crate) sink: Arc<Watcher>,
}

impl Room {
    /// Returns a room in which the next calls, of the model or a tool, do this.
    pub(crate) fn acting(acts: impl IntoIterator<Item = Act>) -> Self {
        let room = Self::default();
        room.then(acts);
        room
    }

    /// Returns a room in which each call of the model or a tool does one of these, always the same one.
    pub(crate) fn dealing(acts: &[Act]) -> Self {
        let script = Script {
            dealt: acts.to_vec(),
            ..Script::default()
        };
        Self {
            script: Arc::new(script),
            ..Self::default()
        }
    }

    fn then(&self, acts: impl IntoIterator<Item = Act>) {
        self.script.acts.lock().unwrap().extend(acts);
    }

    /// Returns the calls so far: `model 3` for a call with three messages, or a tool's name and `run:turn:position`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.script.calls.lock().unwrap().clone()
    }

    /// Lets one call that is held continue.
    pub(crate) fn go_on(&self) {
        self.script.going_on.add_permits(1);
    }

    pub(crate) fn executor(&self) -> Executor {
        self.builder().build()
    }

    pub(crate) fn builder(&self) -> neuron_executor::ExecutorBuilder {
        let mut tools = ToolRegistry::new();
        for name in ["read", "put", "write"] {
            let script = Arc::clone(&self.script);
            tools.register_dyn(Arc::new(RoomTool { name, script }));
        }
        let model = RoomModel(Arc::clone(&self.script));
        Executor::builder().provider("room", model).tools(tools)
    }
}

struct RoomModel(Arc<Script>);

impl Provider for RoomModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let count = request.messages.len();
        match self.0.called(format!("model {count}")).await {
            Act::Answer | Act::Held => Ok(CompletionResponse {
                left_out: Vec::new(),
                id: format!("answer-{count}"),
                model: request.model.clone(),
                message: Message::assistant(format!("answer to {count}")),
                usage: TokenUsage {
                    input_tokens: 10,
                    output_tokens: 2,
                    ..TokenUsage::default()
                },
                stop_reason: StopReason::EndTurn,
                cost_usd: None,
                extra: None,
                mismatch: None,
                guarded: None,
                spent_before: None,
            }),
            Act::Hang => std::future::pending().await,
            Act::Fail(kind, retry_after) => {
                let error = ProviderError::new(kind, "as told");
                Err(match retry_after {
                    Some(delay) => error.with_retry_after(delay),
                    None => error,
                })
            }
        }
    }
}

struct RoomTool {
    name: &'static str,
    script: Arc<Script>,
}

impl ToolDyn for RoomTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> ToolDefinition {
        definition_of(self.name)
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let what = format!("{} {}:{}", self.name, ctx.run_id, ctx.step);
            match self.script.called(what).await {
                Act::Answer | Act::Held => {
                    Ok(ToolOutput::text(format!("{} of {input}", self.name)))
                }
                Act::Hang => std::future::pending().await,
                Act::Fail(FailureKind::ToolFailed, _) => {
                    Err(ToolError::ExecutionFailed("as told".into()))
                }
                Act::Fail(FailureKind::ToolInput, _) => {
                    Err(ToolError::InvalidInput("as told".into()))
                }
                Act::Fail(FailureKind::Timeout, _) => Err(ToolError::Timeout(SECOND)),
                Act::Fail(_, retry_after) => Err(ToolError::Unavailable {
                    message: "as told".into(),
                    retry_after,
                    source: None,
                }),
            }
        })
    }
}

/// A sink that remembers its events.
#[derive(Default)]
pub(crate) struct Watcher {
    pub(crate) events: Mutex<Vec<RecordedEvent>>,
    pub(crate) retries: Mutex<Vec<RetryNotice>>,
    pub(crate) stalls: Mutex<Vec<String>>,
}

impl Watcher {
    /// Returns the number and the type of each event so far.
    pub(crate) fn told(&self) -> Vec<String> {
        describe(&self.events.lock().unwrap())
    }
}

impl EventSink for Watcher {
    fn event(&self, event: &RecordedEvent) {
        self.events.lock().unwrap().push(event.clone());
    }

    fn retry(&self, notice: &RetryNotice) {
        self.retries.lock().unwrap().push(notice.clone());
    }

    fn stalled(&self, why: &str) {
        self.stalls.lock().unwrap().push(why.to_owned());
    }
}

/// Returns the number and the type of each event.
pub(crate) fn describe(events: &[RecordedEvent]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let value = serde_json::to_value(event).unwrap();
            format!("{} {}", event.seq, value["type"].as_str().unwrap())
        })
        .collect()
}

/// Returns a request with so many messages.
pub(crate) fn request(messages: usize) -> CompletionRequest {
    let messages = (0..messages).map(|n| Message::user(format!("message {n}")));
    CompletionRequest::new(RequestHead::new("m"), messages.collect::<Vec<_>>())
}

pub(crate) fn call(name: &str) -> ToolCall {
    ToolCall {
        id: format!("{name}-1"),
        name: name.into(),
        input: json!({ "n": 1.1 }),
        ..ToolCall::default()
    }
}

/// Returns the options of the n-th step of a turn, with the effects of the tool of this name.
pub(crate) fn options(name: &str, turn: u32, position: u32) -> ActivityOptions {
    options_of(name, StepId::new(turn, position), HOUR)
}

pub(crate) fn model_options(turn: u32) -> ActivityOptions {
    options("model", turn, 0)
}

/// Checks the delays after a failure, and after one that asked for seven seconds: that they were those of the policy,
/// and were waited for.
pub(crate) fn check_retries(notices: &[RetryNotice], waited: Duration) {
    let [first, second] = notices else {
        panic!("two attempts failed: {notices:?}");
    };
    assert_eq!((first.attempt, second.attempt), (1, 2));
    let kinds = [first, second].map(|notice| notice.failure.kind);
    assert_eq!(kinds, [FailureKind::Overloaded, FailureKind::RateLimited]);
    let [one, seven] = [SECOND, 7 * SECOND];
    assert!(!first.delay.is_zero() && first.delay <= one);
    assert!(second.delay > seven && second.delay <= seven + 2 * one);
    let delays = first.delay + second.delay;
    assert!(waited >= delays && waited < delays + one, "{waited:?}");
}

/// Returns how long after a moment another one is.
pub(crate) fn since(start: DateTime<Utc>, end: DateTime<Utc>) -> Duration {
    (end - start).to_std().unwrap()
}
