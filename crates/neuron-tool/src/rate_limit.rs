use std::{collections::VecDeque, sync::Arc, time::Duration};

use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until},
};

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Has calls wait that come too fast: in no stretch of the given length do more begin than the given number.
/// They go on in the order in which they came.
///
/// Around every tool it counts the calls of all tools together. Clones count together too, so that several
/// registries can share one limit. A call that waits counts as made, and its step's timeout runs. It ends with
/// [`ToolError::Cancelled`] when its run is cancelled, and then does not count.
#[derive(Debug, Clone)]
pub struct RateLimit {
    calls: usize,
    per: Duration,
    /// When the last `calls` calls began. Whoever is next holds it while it waits.
    begun: Arc<Mutex<VecDeque<Instant>>>,
}

impl RateLimit {
    /// A layer that lets this many calls begin in any stretch of this length. 0 calls count as 1.
    #[must_use]
    pub fn new(calls: usize, per: Duration) -> Self {
        Self {
            calls: calls.max(1),
            per,
            begun: Arc::default(),
        }
    }

    async fn turn(&self) {
        let mut begun = self.begun.lock().await;
        if begun.len() >= self.calls {
            if let Some(oldest) = begun.front() {
                sleep_until(*oldest + self.per).await;
            }
            begun.pop_front();
        }
        begun.push_back(Instant::now());
    }
}

impl ToolMiddleware for RateLimit {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = ctx.cancellation_token.cancelled() => return Err(ToolError::Cancelled),
                () = self.turn() => {}
            }
            next.run(call, ctx).await
        })
    }
}
