//! Calls of a server's tools.

use neuron_types::{Pending, ToolContext, ToolOutput};
use rmcp::model::{CallToolRequestParams, ClientRequest, Request, ServerResult};
use serde_json::{Map, Value};

use crate::{
    McpClient, McpError,
    client::connection::How,
    client::rounds::{Came, Rounds},
    wire::{carried::Carried, content, origin},
};

impl McpClient {
    /// Calls a tool by the server's own name. Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`]. A tool that failed is an output with
    /// [`is_error`](ToolOutput::is_error), not an error.
    pub async fn call_tool(&self, name: &str, args: Value) -> Result<ToolOutput, McpError> {
        self.call_tool_in(name, args, &ToolContext::default()).await
    }

    /// As [`McpClient::call_tool`], reporting progress to the context and ending when it is cancelled. A server that
    /// [is sent it](crate::McpServerSpec::sends_tags) receives which run the context is of, and whose.
    ///
    /// A server that speaks the version of 2026-07-28 may ask a person before it answers, if the handler
    /// [offers](crate::McpClientHandler::offers_elicitation) that. The output is a [`Pending::Form`] then: the same
    /// call, made with [`ToolContext::resumed`], continues with the answers. An answer is an object that fits its
    /// schema, or anything where a page was visited; null declines it. What else such a server asks is answered by the
    /// handler meanwhile.
    ///
    /// # Errors
    ///
    /// As [`McpClient::call_tool`], [`McpError::Cancelled`], and [`McpError::Handler`] for a context that is
    /// resumed from another tool's form.
    pub async fn call_tool_in(
        &self,
        name: &str,
        args: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, McpError> {
        let arguments = match args {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => {
                return Err(McpError::Refused {
                    server: self.name().to_owned(),
                    code: rmcp::model::ErrorCode::INVALID_PARAMS.0,
                    message: "the arguments are no object".to_owned(),
                });
            }
        };
        let mut params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        params.meta = origin::meta(ctx, self.sends_tags());
        let how = How {
            timeout: None,
            cancel: Some(&ctx.cancellation_token),
            progress: ctx.progress_reporter.clone(),
        };
        let mut rounds = Rounds::new(ClientRequest::CallToolRequest(Request::new(params)));
        if let Some(resumed) = &ctx.resumed {
            let carried = resumed.state.clone().and_then(read);
            let carried = carried.ok_or_else(|| {
                McpError::Handler("the call goes on from what it did not leave behind".to_owned())
            })?;
            rounds.resume(carried, resumed);
        }
        match rounds.go(self, &how).await? {
            Came::To(answer) => match *answer {
                ServerResult::CallToolResult(result) => Ok(content::output(result)),
                _ => Err(self.nonsense("its answer is no result of a tool")),
            },
            Came::ToForm(requests, carried) => Ok(ToolOutput::pending(Pending::Form {
                requests,
                state: serde_json::to_value(carried).ok(),
            })),
        }
    }
}

fn read(state: Value) -> Option<Carried> {
    serde_json::from_value(state).ok()
}
