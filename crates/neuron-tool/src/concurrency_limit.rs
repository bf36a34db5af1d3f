use std::sync::Arc;

use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};
use tokio::sync::Semaphore;

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Has calls wait while too many are going on. They go on in the order in which they came.
///
/// Around every tool it counts the calls of all tools together. Clones count together too, so that several
/// registries can share one limit. A call that waits counts as made, and its step's timeout runs. It ends
/// with [`ToolError::Cancelled`] when its run is cancelled.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit {
    places: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    /// A layer that lets this many calls go on at once. 0 counts as 1.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        let places = calls.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(places)),
        }
    }
}

impl ToolMiddleware for ConcurrencyLimit {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let _place = tokio::select! {
                biased;
                () = ctx.cancellation_token.cancelled() => return Err(ToolError::Cancelled),
                // The semaphore is never closed.
                place = self.places.acquire() => place.map_err(|_| ToolError::Cancelled)?,
            };
            next.run(call, ctx).await
        })
    }
}
