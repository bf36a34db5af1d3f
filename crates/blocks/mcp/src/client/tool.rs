//! A server's tool as a tool here.

use std::{any::Any, sync::Arc};

use neuron_sandbox::Confine;
use neuron_types::{ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture};
use serde_json::Value;

use crate::{McpClient, McpError, McpServerSpec, wire::answer::notice};

/// A tool of an MCP server. What its server states about its effects is believed: see [`ToolDefinition::effects`].
///
/// The server checks the arguments. Its rejections reach the model. Of an answer that is not what MCP prescribes, the
/// model reads what can be read; where that is nothing, it reads that the call may have taken effect. A server that
/// cannot be reached is [`ToolError::Unavailable`], one that was lost in the middle of a call
/// [`ToolError::AnswerLost`].
///
/// A tool of a program can be confined: it takes the setting [`Confine`]. Where the running program is not in that sandbox,
/// each call starts one of its own in it, which has ended when the call returns and keeps nothing from one call to the next.
/// A server at an address runs elsewhere, and its tools take no such setting.
#[derive(Debug, Clone)]
pub struct McpTool {
    client: McpClient,
    /// The server that each call has for itself, if it is not the client's.
    own_server: Option<McpServerSpec>,
    own_name: String,
    definition: ToolDefinition,
}

impl McpTool {
    pub(crate) fn new(client: McpClient, own_name: String, definition: ToolDefinition) -> Self {
        Self {
            client,
            own_server: None,
            own_name,
            definition,
        }
    }

    /// Returns the server's own name of the tool.
    #[must_use]
    pub fn own_name(&self) -> &str {
        &self.own_name
    }

    /// Makes the call with a server of its own, which has ended afterwards.
    async fn call_own(
        &self,
        spec: &McpServerSpec,
        input: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, McpError> {
        let client = tokio::select! {
            client = self.client.connect_another(spec.clone()) => client?,
            () = ctx.cancellation_token.cancelled() => return Err(McpError::Cancelled),
        };
        let answer = client.call_tool_in(&self.own_name, input, ctx).await;
        client.close().await;
        answer
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
            let answer = match &self.own_server {
                Some(spec) => self.call_own(spec, input, ctx).await,
                None => self.client.call_tool_in(&self.own_name, input, ctx).await,
            };
            match answer {
                // The call was made: it has not failed, and is not made again because its answer cannot be read.
                Err(McpError::Protocol { reason, .. }) => Ok(ToolOutput::text(notice(&reason))),
                answer => answer.map_err(ToolError::from),
            }
        })
    }

    fn checks_arguments(&self) -> bool {
        true
    }

    /// Takes the demand to [`Confine`] the server, if that is a program. The sandbox of an agent is not that of its servers.
    fn with_setting(&self, setting: &dyn Any) -> Option<Arc<dyn ToolDyn>> {
        let confine = setting.downcast_ref::<Confine>()?;
        let running = self.own_server.as_ref().unwrap_or(self.client.spec());
        let own = running.transport.sandbox()?;
        let sandbox = confine.narrowed(own);
        let mut confined = self.clone();
        if sandbox.rules() != own.rules() {
            confined.own_server = Some(running.clone().sandbox(sandbox));
        }
        Some(Arc::new(confined))
    }
}
