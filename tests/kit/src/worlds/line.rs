//! The line of a model, a tool or a hook to its world.

use std::{fmt, io, sync::Arc};

use futures::future::BoxFuture;
use neuron_approvers::ApproverEntry;
use neuron_types::{
    CompletionRequest, CompletionResponse, HookError, ProviderError, Resumed, StepId, ToolOutput,
};
use serde::{Deserialize, Serialize};

use super::tool_fault::ToolFault;

/// The line of a model, a tool or a hook to its world.
pub(crate) type Line = Arc<dyn Reach>;

/// A world, here or in another process.
pub(crate) trait Reach: fmt::Debug + Send + Sync {
    /// Returns the answer of the world's model.
    fn ask_model<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionResponse, ProviderError>>;

    /// Returns the answer of a tool of the world.
    fn ask_tool(&self, ask: ToolAsk) -> BoxFuture<'_, Result<ToolOutput, ToolFault>>;

    /// Returns the approvers who may sign decisions now. The call must not block on anything else: a verifier waits for
    /// it.
    fn approvers(&self) -> io::Result<Vec<ApproverEntry>>;

    /// Notes an event that a hook received.
    fn note(&self, note: String) -> BoxFuture<'_, Result<(), HookError>>;
}

/// The request of a tool to the world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolAsk {
    pub(crate) tool: String,
    pub(crate) run_id: String,
    pub(crate) step: StepId,
    pub(crate) key: String,
    pub(crate) input: serde_json::Value,
    /// The token of a deferred tool.
    pub(crate) token: Option<String>,
    /// A person's answer to the earlier question of the call.
    pub(crate) resumed: Option<Resumed>,
}
