//! The skill of a world's executors, and the tool that reads it.

use std::path::PathBuf;

use neuron_tool::builtin::{ReadSkill, Skill};
use neuron_types::{ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture};
use serde_json::{Value, json};

use super::{
    line::{Line, ToolAsk},
    tool_fault::ToolFault,
};

/// The folder of the skill, on the machine of every executor.
pub(crate) fn folder() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/skills/reports").into()
}

/// The skill that every executor has.
pub(crate) fn of_executors() -> Skill {
    Skill::open(folder()).expect("the skill of the kit")
}

/// The real tool, whose calls the world knows, and holds.
pub(crate) struct SkillReader {
    line: Line,
    tool: ReadSkill,
}

impl SkillReader {
    pub(crate) fn new(line: Line) -> Self {
        Self {
            line,
            tool: ReadSkill::new([of_executors()]),
        }
    }
}

impl ToolDyn for SkillReader {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn definition(&self) -> ToolDefinition {
        self.tool.definition()
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let ask = ToolAsk {
                tool: self.name().to_owned(),
                run_id: ctx.run_id.clone(),
                step: ctx.step,
                key: ctx.idempotency_key.clone(),
                input: json!({}),
                token: None,
                resumed: None,
            };
            let known = self.line.ask_tool(ask).await;
            known.map_err(ToolFault::into_error)?;
            self.tool.call_dyn(input, ctx).await
        })
    }
}
