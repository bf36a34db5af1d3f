//! Scopes, tools and hooks made of closures, for tests of an executor.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use neuron_executor::{Executor, StepScope};
use neuron_patience::patience;
use neuron_types::{
    ActivityOptions, ActivitySettings, Effect, Hook, HookAction, HookError, HookEvent, Outcome,
    Preview, PreviewRequest, Priority, RetryPolicy, RunId, RunTags, StepFailure, StepId,
    ToolAnnotations, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolEffects, ToolError,
    ToolOutput, VerifyOutcome, VerifyRequest, WasmBoxedFuture,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Returns the first attempt of the second turn's first tool call, a write, with a minute for it.
#[must_use]
pub fn scope() -> StepScope {
    StepScope {
        progress: neuron_executor::LatestProgress::default(),
        run_id: RunId::new("run-1").unwrap(),
        step: StepId::new(2, 1),
        agent: None,
        nonce: None,
        trace: None,
        tags: RunTags::default(),
        root: None,
        allow: Vec::new(),
        bounds: Vec::new(),
        guards: Vec::new(),
        skills: std::collections::BTreeMap::new(),
        priority: Priority::Interactive,
        attempt: 1,
        timeout: Duration::from_secs(60), // Only compared, or of a clock that is stopped.
        effects: ToolEffects::Write,
        cancellation: CancellationToken::new(),
    }
}

/// Returns the scope of a call that the loop makes for itself.
#[must_use]
pub fn own_scope() -> StepScope {
    StepScope {
        step: StepId::new(2, StepId::OWN_CALLS + 1),
        effects: ToolEffects::ReadOnly,
        ..scope()
    }
}

/// Returns what a call of this tool would do, as the executor finds it for the loop.
pub async fn preview_of(executor: &Executor, name: &str, input: Value) -> Option<Preview> {
    let request = PreviewRequest {
        name: name.to_owned(),
        input,
    };
    match executor
        .perform(&own_scope(), &Effect::Preview(request))
        .await
    {
        Ok(Outcome::Preview(preview)) => preview,
        other => panic!("{other:?}"),
    }
}

/// Returns whose a decision is, as the executor finds it at this step.
///
/// # Errors
///
/// The errors of the executor.
pub async fn verified_at(
    executor: &Executor,
    step: &StepScope,
    request: &VerifyRequest,
) -> Result<VerifyOutcome, StepFailure> {
    let effect = Effect::Verify(Box::new(request.clone()));
    match executor.perform(step, &effect).await? {
        Outcome::Verify(outcome) => Ok(outcome),
        other => panic!("{other:?}"),
    }
}

/// Returns the definition of a tool that is a read if it is named `read`, idempotent if it is named `put`, and
/// otherwise a write.
#[must_use]
pub fn definition_of(name: &str) -> ToolDefinition {
    let hint = |tool: &str| (name == tool).then_some(true);
    ToolDefinition {
        name: name.into(),
        input_schema: json!({ "type": "object" }),
        annotations: Some(ToolAnnotations {
            read_only_hint: hint("read"),
            idempotent_hint: hint("put"),
            ..ToolAnnotations::default()
        }),
        ..ToolDefinition::default()
    }
}

/// Returns how a step of this name is made: a `read`, a `write`, or otherwise one that is idempotent, as a model call
/// is.
#[must_use]
pub fn options_of(name: &str, step: StepId, timeout: Duration) -> ActivityOptions {
    ActivityOptions {
        step,
        agent: None,
        nonce: None,
        trace: None,
        tags: RunTags::default(),
        root: None,
        allow: Vec::new(),
        bounds: Vec::new(),
        guards: Vec::new(),
        skills: std::collections::BTreeMap::new(),
        priority: Priority::default(),
        effects: match name {
            "read" => ToolEffects::ReadOnly,
            "write" => ToolEffects::Write,
            _ => ToolEffects::Idempotent,
        },
        start_to_close_timeout: timeout,
        retry_policy: RetryPolicy::default(),
        held: None,
        activity: ActivitySettings::default(),
    }
}

/// Returns a call of this tool.
#[must_use]
pub fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "call-1".into(),
        name: name.into(),
        input,
        ..ToolCall::default()
    }
}

/// Returns the first text of an output; empty if it begins with something else.
#[must_use]
pub fn text_of(output: &ToolOutput) -> String {
    serde_json::to_value(&output.content).unwrap()[0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

type Body =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// A tool made of a closure that gets the context of its calls. Its one argument, `text`, must be a string.
#[derive(Clone)]
pub struct TestTool {
    name: &'static str,
    body: Arc<Body>,
    inputs: Arc<Mutex<Vec<Value>>>,
}

impl TestTool {
    /// Returns a tool whose answer the closure computes from the arguments and the context.
    pub fn new<F, Fut>(name: &'static str, body: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self {
            name,
            body: Arc::new(move |input, context| Box::pin(body(input, context))),
            inputs: Arc::default(),
        }
    }

    /// Returns a tool `echo` that answers with its `text`.
    #[must_use]
    pub fn echo() -> Self {
        Self::new("echo", |input, _| async move {
            Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
        })
    }

    /// Returns the inputs that it was called with.
    #[must_use]
    pub fn calls(&self) -> Vec<Value> {
        self.inputs.lock().unwrap().clone()
    }
}

impl ToolDyn for TestTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.name.into(),
            input_schema: json!({
                "type": "object",
                "properties": { "text": { "type": "string" } },
            }),
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        self.inputs.lock().unwrap().push(input.clone());
        (self.body)(input, ctx.clone())
    }
}

impl fmt::Debug for TestTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestTool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A hook made of a closure.
#[derive(Debug, Clone, Copy)]
pub struct TestHook<F>(pub F);

impl<F> Hook for TestHook<F>
where
    F: Fn(&HookEvent<'_>) -> Result<HookAction, HookError> + Send + Sync,
{
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async move { (self.0)(event) })
    }
}

/// A hook that never answers.
#[derive(Debug, Clone, Copy)]
pub struct SilentHook;

impl Hook for SilentHook {
    fn on_event<'a>(
        &'a self,
        _: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(std::future::pending())
    }
}

/// Waits until the condition is true, without tokio's clock, which a test may have stopped.
///
/// # Panics
///
/// If it is not true within [`patience`].
pub async fn eventually(mut is_so: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + patience();
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "it never came to be");
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(1)); // Between two looks.
    }
}
