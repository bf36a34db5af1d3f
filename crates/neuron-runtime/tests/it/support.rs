//! What the tests of effects have in common: scopes, and tools and hooks made of closures.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use neuron_runtime::StepScope;
use neuron_types::{
    HookAction, HookError, HookEvent, ObservabilityHook, RunId, StepId, ToolCall, ToolContext,
    ToolDefinition, ToolDyn, ToolEffects, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) fn scope() -> StepScope {
    StepScope {
        run_id: RunId::new("run-1").unwrap(),
        step: StepId {
            turn: 2,
            position: 1,
        },
        attempt: 1,
        timeout: Duration::from_secs(60),
        effects: ToolEffects::Write,
        cancellation: CancellationToken::new(),
    }
}

pub(crate) fn call(name: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "call-1".into(),
        name: name.into(),
        input,
    }
}

pub(crate) fn text_of(output: &ToolOutput) -> String {
    serde_json::to_value(&output.content).unwrap()[0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

type Body =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

/// A tool made of a closure. Its one argument, `text`, must be a string.
#[derive(Clone)]
pub(crate) struct TestTool {
    name: &'static str,
    body: Arc<Body>,
    /// The inputs that it was called with.
    pub(crate) inputs: Arc<Mutex<Vec<Value>>>,
}

impl TestTool {
    pub(crate) fn new<F, Fut>(name: &'static str, body: F) -> Self
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

    /// A tool that answers with its `text`.
    pub(crate) fn echo() -> Self {
        Self::new("echo", |input, _| async move {
            Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
        })
    }

    pub(crate) fn calls(&self) -> Vec<Value> {
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

/// A hook made of a closure.
pub(crate) struct TestHook<F>(pub(crate) F);

impl<F> ObservabilityHook for TestHook<F>
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
pub(crate) struct SilentHook;

impl ObservabilityHook for SilentHook {
    fn on_event<'a>(
        &'a self,
        _: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(std::future::pending())
    }
}
