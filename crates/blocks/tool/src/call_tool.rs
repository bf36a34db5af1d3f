use std::{error::Error, future::Future};

use neuron_types::{ToolContext, WasmCompatSend};
use serde::Serialize;

/// What a call does, for a struct of arguments with `#[derive(Tool)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a call does",
    note = "implement `CallTool` for `{Self}`"
)]
pub trait CallTool: Sized {
    /// The result. A string and a [`ToolOutput`](neuron_types::ToolOutput) reach the model as they are,
    /// anything else as JSON.
    type Output: Serialize + 'static;
    /// What can go wrong. One that is a [`ToolError`](neuron_types::ToolError) is kept as it is, any other
    /// becomes an [`ExecutionFailed`](neuron_types::ToolError::ExecutionFailed).
    type Error: Error + Send + Sync + 'static;

    /// Performs the call with these arguments. Dropping the future must stop the work.
    ///
    /// # Errors
    ///
    /// See [`ToolError`](neuron_types::ToolError) for which errors the model gets to see and which end the run.
    fn call(
        self,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, Self::Error>> + WasmCompatSend;
}
