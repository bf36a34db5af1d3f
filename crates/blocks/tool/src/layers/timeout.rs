use std::time::Duration;

use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Ends calls that take too long, with [`ToolError::Timeout`].
///
/// The layers further inside and the tool are dropped, which stops them. The time that a call waits in a layer
/// further outside does not count. In a run, the call's step has a timeout of its own: let this one be shorter.
#[derive(Debug, Clone, Copy)]
pub struct Timeout {
    limit: Duration,
}

impl Timeout {
    /// Makes a layer that gives each call this long. Needs a tokio runtime with a clock.
    #[must_use]
    pub const fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl ToolMiddleware for Timeout {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            tokio::time::timeout(self.limit, next.run(call, ctx))
                .await
                .unwrap_or(Err(ToolError::Timeout(self.limit)))
        })
    }
}
