//! A model and a tool that cost next to nothing, so that neuron itself is measured.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use neuron_executor::{Executor, ExecutorBuilder};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, ContentBlock, Limits, Message, Provider,
    ProviderError, RequestHead, Role, RunInput, StopReason, TokenUsage, ToolAnnotations,
    ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::{Value, json};

/// The size of each tool result.
pub(crate) const RESULT_BYTES: usize = 4 * 1024;

/// A model that asks for one tool call a turn, and is done after `turns`.
struct CountingModel {
    turns: u32,
    made: AtomicU32,
}

impl Provider for CountingModel {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        let turn = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(answer(turn, self.turns))
    }
}

/// Returns a model's answer in this turn of `turns`: it asks for a lookup until the last.
pub(crate) fn answer(turn: u32, turns: u32) -> CompletionResponse {
    let (stop_reason, block) = if turn < turns {
        let id = format!("call-{turn}");
        let call = ContentBlock::tool_use(id, "lookup", json!({"key": turn}));
        (StopReason::ToolUse, call)
    } else {
        (StopReason::EndTurn, ContentBlock::Text("done".to_owned()))
    };
    CompletionResponse {
        left_out: Vec::new(),
        id: String::new(),
        model: "counting".to_owned(),
        message: Message {
            role: Role::Assistant,
            content: vec![block],
        },
        usage: TokenUsage {
            input_tokens: u64::from(turn),
            output_tokens: 1,
            ..TokenUsage::default()
        },
        stop_reason,
        cost_usd: None,
        extra: None,
        mismatch: None,
        guarded: None,
        spent_before: None,
    }
}

/// Returns the tool that the model asks for, with the text that it answers.
pub(crate) fn tools(text: String) -> ToolRegistry {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(Lookup { text }));
    tools
}

/// Returns an agent of the provider `bench` with these tools, and neither a limit of turns nor one of calls.
pub(crate) fn agent(tools: &ToolRegistry) -> AgentSpec {
    AgentSpec {
        head: RequestHead {
            provider: Some("bench".to_owned()),
            model: "counting".to_owned(),
            tools: tools.definitions(),
            ..RequestHead::default()
        }
        .into(),
        limits: Limits {
            turns: None,
            tool_calls: None,
            ..Limits::default()
        },
        ..AgentSpec::default()
    }
}

/// A tool that returns the same text whatever it looks up.
struct Lookup {
    text: String,
}

impl ToolDyn for Lookup {
    fn name(&self) -> &str {
        "lookup"
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "lookup".to_owned(),
            description: "Looks a key up.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {"key": {"type": "integer"}},
                "required": ["key"],
            }),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(true),
                ..ToolAnnotations::default()
            }),
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        _: Value,
        _: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::text(self.text.clone())) })
    }
}

/// Returns an executor whose model takes `turns` turns, and the input of a run on it.
pub(crate) fn run_of(turns: u32) -> (Executor, RunInput) {
    built_run_of(turns, |builder| builder)
}

/// Returns the same, with an executor that is built with more.
pub(crate) fn built_run_of(
    turns: u32,
    more: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder,
) -> (Executor, RunInput) {
    let tools = tools("x".repeat(RESULT_BYTES));
    let agent = agent(&tools);
    let model = CountingModel {
        turns,
        made: AtomicU32::new(0),
    };
    let builder = Executor::builder().provider("bench", model).tools(tools);
    let prompt = Message::user("look everything up");
    (more(builder).build(), RunInput::new(agent, prompt))
}
