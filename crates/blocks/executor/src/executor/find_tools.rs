//! The search for tools, which the agent's definitions answer and no tool.

use neuron_types::{FIND_TOOLS, FindTools, ToolCall, ToolContext, ToolError, ToolOutput};
use serde::Deserialize as _;
use serde_json::Value;

use super::Executor;

impl Executor {
    /// Returns whether calls of this tool look for other tools: a tool that is registered by the name takes precedence.
    pub(super) fn finds_tools(&self, tool: &str) -> bool {
        tool == FIND_TOOLS && self.inner.tools.get(tool).is_none()
    }

    /// Makes a call that passed all checks.
    pub(super) async fn make_call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        match self.finds_tools(&call.name) {
            true => Ok(self.find_tools(&call.input)),
            false => self.inner.tools.execute_call(call, context).await,
        }
    }

    /// Finds tools among those that its agent does not send; among all that are here where it acts for none.
    fn find_tools(&self, input: &Value) -> ToolOutput {
        let asked = match FindTools::deserialize(input) {
            Ok(asked) => asked,
            Err(error) => {
                return ToolOutput::error(format!(
                    "the arguments do not fit the schema of {FIND_TOOLS} ({error}): call it again with ones that do"
                ));
            }
        };
        let Some(grants) = &self.grants else {
            return asked.answer(&self.inner.tools.definitions());
        };
        let agent = grants.definition();
        match agent.searched_tools() {
            // The run has an older definition.
            searched if searched.is_empty() => asked.answer(&agent.head.tools),
            searched => asked.answer(searched),
        }
    }
}
