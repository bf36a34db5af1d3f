//! How a model, a tool or a hook reaches its world.

use std::{fmt, io, sync::Arc};

use futures::future::BoxFuture;
use neuron_approvers::ApproverEntry;
use neuron_types::{
    CompletionRequest, CompletionResponse, HookError, ProviderError, Resumed, StepId, ToolOutput,
};
use serde::{Deserialize, Serialize};

use super::tool_fault::ToolFault;

/// How a model, a tool or a hook reaches its world.
pub(crate) type Line = Arc<dyn Reach>;

/// A world, here or in another process.
pub(crate) trait Reach: fmt::Debug + Send + Sync {
    /// Returns what the model of the world answers.
    fn ask_model<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionResponse, ProviderError>>;

    /// Returns what a tool of the world answers.
    fn ask_tool(&self, ask: ToolAsk) -> BoxFuture<'_, Result<ToolOutput, ToolFault>>;

    /// Returns those who may sign decisions now. Whoever verifies them may not wait for anything else.
    fn approvers(&self) -> io::Result<Vec<ApproverEntry>>;

    /// Notes what a hook was notified of.
    fn note(&self, note: String) -> BoxFuture<'_, Result<(), HookError>>;
}

/// What a tool asks of the world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolAsk {
    pub(crate) tool: String,
    pub(crate) run_id: String,
    pub(crate) step: StepId,
    pub(crate) key: String,
    pub(crate) input: serde_json::Value,
    /// The token of a deferred tool.
    pub(crate) token: Option<String>,
    /// What a person answered to what the call asked before.
    pub(crate) resumed: Option<Resumed>,
}
