//! Asking a person.

use neuron_types::{
    ASK_PERSON, AskPerson, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput,
    WasmBoxedFuture,
};
use serde_json::Value;

/// The tool `ask_person`: the model asks a person, and reads the answer.
///
/// In a run the loop answers it, by a ticket, on every engine. A call anywhere else is an error that states this.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskPersonTool;

impl ToolDyn for AskPersonTool {
    fn name(&self) -> &str {
        ASK_PERSON
    }

    fn definition(&self) -> ToolDefinition {
        AskPerson::definition()
    }

    fn call_dyn<'a>(
        &'a self,
        _input: Value,
        _ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            Ok(ToolOutput::error(
                "there is nobody to ask: only a run can ask a person",
            ))
        })
    }
}
