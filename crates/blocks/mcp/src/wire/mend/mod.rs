//! Makes results that servers send into results that the SDK's types read. What fits is not changed.

mod call;
mod fields;
mod initialize;
mod lists;
mod reading;

use rmcp::model::{ClientRequest, CustomResult, ServerResult};
use serde::Deserialize as _;
use serde_json::Value;

pub(crate) use lists::{Omitted, omitted};

/// What a request asks for, as far as it matters for reading the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Tools,
    Resources,
    Templates,
    Prompts,
    Call,
    Resource,
    Prompt,
    Initialize,
    /// Answers that are read as they are.
    Other,
}

impl Asked {
    pub(crate) fn of(request: &ClientRequest) -> Self {
        match request {
            ClientRequest::ListToolsRequest(_) => Self::Tools,
            ClientRequest::ListResourcesRequest(_) => Self::Resources,
            ClientRequest::ListResourceTemplatesRequest(_) => Self::Templates,
            ClientRequest::ListPromptsRequest(_) => Self::Prompts,
            ClientRequest::CallToolRequest(_) => Self::Call,
            ClientRequest::ReadResourceRequest(_) => Self::Resource,
            ClientRequest::GetPromptRequest(_) => Self::Prompt,
            ClientRequest::InitializeRequest(_) => Self::Initialize,
            _ => Self::Other,
        }
    }

    /// Returns whether a result is one that answers the request.
    pub(crate) fn is_answered_by(self, result: &ServerResult) -> bool {
        matches!(
            (self, result),
            (Self::Tools, ServerResult::ListToolsResult(_))
                | (Self::Resources, ServerResult::ListResourcesResult(_))
                | (
                    Self::Templates,
                    ServerResult::ListResourceTemplatesResult(_)
                )
                | (Self::Prompts, ServerResult::ListPromptsResult(_))
                | (Self::Call, ServerResult::CallToolResult(_))
                | (Self::Resource, ServerResult::ReadResourceResult(_))
                | (Self::Prompt, ServerResult::GetPromptResult(_))
                | (Self::Initialize, ServerResult::InitializeResult(_))
                | (
                    Self::Call | Self::Resource | Self::Prompt,
                    ServerResult::InputRequiredResult(_)
                )
                | (Self::Other, _)
        )
    }
}

impl Asked {
    /// Returns what is wrong with a result that cannot be read at all.
    pub(crate) fn unfit(self) -> &'static str {
        match self {
            Self::Initialize => "it says none of protocolVersion, capabilities and serverInfo",
            _ => "it is not what MCP prescribes",
        }
    }
}

/// Returns a result as the SDK reads it: as it came if it fits, else the pieces that fit. `None` if nothing of it can
/// be read.
pub(crate) fn mend(asked: Asked, result: Value) -> Option<ServerResult> {
    if let Some(fits) = read(asked, &result) {
        return Some(fits);
    }
    // The server continues to ask, or answers in a way that is not known here: nothing of that is an answer.
    let kind = result.get("resultType").and_then(Value::as_str);
    if kind.is_some_and(|kind| kind != "complete") {
        return Some(ServerResult::CustomResult(CustomResult(result)));
    }
    let mended = match asked {
        Asked::Tools => lists::tools(result),
        Asked::Resources => lists::resources(result),
        Asked::Templates => lists::templates(result),
        Asked::Prompts => lists::prompts(result),
        Asked::Call => call::mend(result),
        Asked::Resource => reading::resource(result),
        Asked::Prompt => reading::prompt(result),
        Asked::Initialize => initialize::mend(result),
        Asked::Other => None,
    };
    read(asked, &mended?)
}

fn read(asked: Asked, result: &Value) -> Option<ServerResult> {
    let result = ServerResult::deserialize(result).ok()?;
    asked.is_answered_by(&result).then_some(result)
}

#[cfg(test)]
mod tests;
