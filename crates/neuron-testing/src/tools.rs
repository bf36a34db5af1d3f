//! The tools of a world: they do what their arguments say.

use std::{sync::Arc, time::Duration};

use neuron_tool::ToolRegistry;
use neuron_types::{
    ToolAnnotations, ToolContext, ToolDefinition, ToolDyn, ToolEffects, ToolError, ToolOutput,
    WasmBoxedFuture,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::remote::{Line, ToolAsk};

/// The tools and what they do to the world.
pub(crate) const TOOLS: [(&str, ToolEffects); 3] = [
    ("look", ToolEffects::ReadOnly),
    ("put", ToolEffects::Idempotent),
    ("write", ToolEffects::Write),
];

pub(crate) fn registry(line: &Line) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for (name, effects) in TOOLS {
        let line = line.clone();
        registry.register_dyn(Arc::new(WorldTool {
            name,
            effects,
            line,
        }));
    }
    registry
}

struct WorldTool {
    name: &'static str,
    effects: ToolEffects,
    line: Line,
}

impl ToolDyn for WorldTool {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> ToolDefinition {
        definition(self.name, self.effects)
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let ask = ToolAsk {
                tool: self.name.to_owned(),
                run_id: ctx.session_id.clone(),
                key: ctx.idempotency_key.clone(),
                input,
            };
            tokio::select! {
                biased;
                answer = self.line.ask_tool(ask) => answer.map_err(ToolFault::into_error),
                () = ctx.cancellation_token.cancelled() => Err(ToolError::Cancelled),
            }
        })
    }
}

fn definition(name: &str, effects: ToolEffects) -> ToolDefinition {
    let hint = |of: ToolEffects| (effects == of).then_some(true);
    ToolDefinition {
        name: name.to_owned(),
        description: "Does what its arguments say.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "bytes": { "type": "integer" },
                "takes_ms": { "type": "integer" },
                "error": { "type": "string" },
                "hook": { "type": "string" },
                "fail": { "type": "array" },
            },
            "additionalProperties": false,
        }),
        annotations: Some(ToolAnnotations {
            read_only_hint: hint(ToolEffects::ReadOnly),
            idempotent_hint: hint(ToolEffects::Idempotent),
            ..ToolAnnotations::default()
        }),
        ..ToolDefinition::default()
    }
}

/// What a call asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolInput {
    text: Option<String>,
    bytes: Option<usize>,
    takes_ms: u64,
    error: Option<String>,
    /// For the hook.
    hook: Option<String>,
    /// What the attempts before the answer fail with.
    pub(crate) fail: Vec<ToolFault>,
}

impl ToolInput {
    pub(crate) async fn answer(self) -> ToolOutput {
        if self.takes_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.takes_ms)).await;
        }
        if let Some(error) = self.error {
            return ToolOutput::error(error);
        }
        if let Some(bytes) = self.bytes {
            return ToolOutput::text("x".repeat(bytes));
        }
        ToolOutput::text(self.text.unwrap_or_else(|| "done".to_owned()))
    }
}

/// An error of a tool as it stands in a script and travels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFault {
    with: FaultKind,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultKind {
    ModelRetry,
    NotFound,
    PermissionDenied,
    ExecutionFailed,
    InvalidInput,
    Timeout,
    Unavailable,
    Panic,
}

impl ToolFault {
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self {
            with: FaultKind::Unavailable,
            message: Some(message.into()),
            retry_after_ms: None,
        }
    }

    fn into_error(self) -> ToolError {
        let message = self.message.unwrap_or_else(|| "as told".to_owned());
        match self.with {
            FaultKind::ModelRetry => ToolError::ModelRetry(message),
            FaultKind::NotFound => ToolError::NotFound(message),
            FaultKind::PermissionDenied => ToolError::PermissionDenied(message),
            FaultKind::ExecutionFailed => ToolError::ExecutionFailed(message.into()),
            FaultKind::InvalidInput => ToolError::InvalidInput(message),
            FaultKind::Timeout => ToolError::Timeout(Duration::from_secs(1)),
            FaultKind::Unavailable => ToolError::Unavailable {
                message,
                retry_after: self.retry_after_ms.map(Duration::from_millis),
                source: None,
            },
            FaultKind::Panic => panic!("{message}"),
        }
    }
}
