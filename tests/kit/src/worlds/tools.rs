//! The tools of a world: they do what their arguments ask for.

use std::{sync::Arc, time::Duration};

use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_turn::EffectTool;
use neuron_types::{
    FormRequest, Pending, Resumed, SkillSpec, ToolAnnotations, ToolContext, ToolDefinition,
    ToolDyn, ToolEffects, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    line::{Line, ToolAsk},
    skills::SkillReader,
    tool_fault::ToolFault,
};

/// The tools and their effects on the world.
pub(crate) const TOOLS: [(&str, ToolEffects); 3] = [
    ("look", ToolEffects::ReadOnly),
    ("put", ToolEffects::Idempotent),
    ("write", ToolEffects::Write),
];

/// The tool whose results are delivered later.
pub(crate) const DEFERRED: (&str, ToolEffects) = ("deploy", ToolEffects::Write);

/// The tool that knows the outcome of its calls.
pub(crate) const KNOWING: (&str, ToolEffects) = ("pay", ToolEffects::Write);

/// The tool that has a name like those of an MCP server.
pub(crate) const SERVED: (&str, ToolEffects) = ("github__create_issue", ToolEffects::Idempotent);

/// The tool that reads skills.
pub(crate) const SKILLS: (&str, ToolEffects) = (SkillSpec::TOOL, ToolEffects::ReadOnly);

/// The real tools that edit and read files, which act on more than the world.
pub(crate) const EDIT: &str = "edit_file";
pub(crate) const READ: &str = "read_file";

pub(crate) fn registry(line: &Line) -> ToolRegistry {
    let options = BuiltinOptions {
        confine: false,
        ..BuiltinOptions::default()
    };
    let mut builtin = builtin_tools(&options);
    builtin.retain(|tool| [EDIT, READ].contains(&tool.name()));
    let mut registry = ToolRegistry::from_iter(builtin.into_iter().chain(EffectTool::all()));
    registry.register_dyn(Arc::new(SkillReader::new(Arc::clone(line))));
    for (name, effects) in TOOLS.into_iter().chain([DEFERRED, KNOWING, SERVED]) {
        let line = Arc::clone(line);
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
                run_id: ctx.run_id.clone(),
                step: ctx.step,
                key: ctx.idempotency_key.clone(),
                input,
                token: ctx.completion_token.clone(),
                resumed: ctx.resumed.clone(),
            };
            tokio::select! {
                biased;
                answer = self.line.ask_tool(ask) => answer.map_err(ToolFault::into_error),
                () = ctx.cancellation_token.cancelled() => Err(ToolError::Cancelled),
            }
        })
    }

    fn outcome_dyn<'a>(
        &'a self,
        key: &'a str,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        Box::pin(async move {
            assert_eq!(ctx.idempotency_key, key, "the key is that of the call");
            let known = input["outcome"].as_str();
            Ok(known.map(|text| ToolOutput::text(format!("{text} {key}"))))
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
                "form": { "type": "string" },
                "outcome": { "type": "string" },
            },
            "additionalProperties": false,
        }),
        annotations: Some(ToolAnnotations {
            read_only_hint: hint(ToolEffects::ReadOnly),
            idempotent_hint: hint(ToolEffects::Idempotent),
            ..ToolAnnotations::default()
        }),
        deferred: name == DEFERRED.0,
        outcomes: name == KNOWING.0,
        ..ToolDefinition::default()
    }
}

/// Returns a form with one field.
fn asked(key: String) -> Pending {
    Pending::Form {
        requests: vec![FormRequest {
            key,
            message: "What shall it be?".to_owned(),
            schema: Some(json!({"type": "string"})),
            url: None,
        }],
        state: Some(json!({"page": 1})),
    }
}

/// The arguments of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolInput {
    text: Option<String>,
    bytes: Option<usize>,
    takes_ms: u64,
    error: Option<String>,
    /// The argument for the hook.
    hook: Option<String>,
    /// The name of the form for a person before the answer.
    form: Option<String>,
    /// The tool's answer if it is asked for the outcome of the call, before the call's key; without it the tool does
    /// not know.
    #[serde(rename = "outcome")]
    _outcome: Option<String>,
    /// The failures of the attempts before the answer.
    pub(crate) fail: Vec<ToolFault>,
}

impl ToolInput {
    pub(crate) async fn answer(self, resumed: Option<Resumed>) -> ToolOutput {
        if self.takes_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.takes_ms)).await; // What a scenario asked for.
        }
        match (self.form, resumed) {
            (Some(key), None) => return ToolOutput::pending(asked(key)),
            (_, Some(resumed)) => return ToolOutput::text(json!(resumed).to_string()),
            (None, None) => {}
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
