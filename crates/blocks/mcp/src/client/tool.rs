//! A server's tool as a tool here.

use neuron_types::{ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture};
use serde_json::Value;

use crate::{McpClient, McpError, wire::answer::notice};

/// A tool of an MCP server. What its server says of its effects is believed: see
/// [`ToolDefinition::effects`].
///
/// The server checks the arguments. Its refusals reach the model. Of an answer that is not what MCP prescribes, the
/// model reads what can be read; where that is nothing, it reads that the call may have taken effect. A server that
/// cannot be reached is [`ToolError::Unavailable`], one that was lost in the middle of a call
/// [`ToolError::AnswerLost`].
#[derive(Debug, Clone)]
pub struct McpTool {
    client: McpClient,
    own_name: String,
    definition: ToolDefinition,
}

impl McpTool {
    pub(crate) fn new(client: McpClient, own_name: String, definition: ToolDefinition) -> Self {
        Self {
            client,
            own_name,
            definition,
        }
    }

    /// The server's name of it.
    #[must_use]
    pub fn own_name(&self) -> &str {
        &self.own_name
    }
}

impl ToolDyn for McpTool {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match self.client.call_tool_in(&self.own_name, input, ctx).await {
                // The call was made: it has not failed, and is not made again because nobody can read its answer.
                Err(McpError::Protocol { reason, .. }) => Ok(ToolOutput::text(notice(&reason))),
                answer => answer.map_err(ToolError::from),
            }
        })
    }

    fn checks_arguments(&self) -> bool {
        true
    }
}
