use std::{sync::Arc, time::Duration};

use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};
use tokio::sync::Semaphore;

use crate::{
    layers::turn::await_turn,
    middleware::{Next, ToolCall, ToolMiddleware},
};

/// Makes calls wait while too many are running. They continue in the order in which they came.
///
/// Around every tool it counts the calls of all tools together. Clones count together too, so that several
/// registries can share one limit. A call that waits counts as made, and its step's timeout runs: see
/// [`max_wait`](Self::max_wait). It ends with [`ToolError::Cancelled`] when its run is cancelled.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit {
    places: Arc<Semaphore>,
    max_wait: Option<Duration>,
}

impl ConcurrencyLimit {
    /// Makes a layer that allows this many calls at once. 0 counts as 1.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        let places = calls.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            places: Arc::new(Semaphore::new(places)),
            max_wait: None,
        }
    }

    /// Sets how long a call waits. A call that has waited this long is not made, and ends with
    /// [`ToolError::Unavailable`]. Default is for ever. Clones that were made before keep their own setting.
    #[must_use]
    pub const fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = Some(wait);
        self
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
            let place = self.places.acquire();
            let place = await_turn(place, self.max_wait, call, ctx, "are going on").await?;
            // The semaphore is never closed.
            let _place = place.map_err(|_| ToolError::Cancelled)?;
            next.run(call, ctx).await
        })
    }
}
