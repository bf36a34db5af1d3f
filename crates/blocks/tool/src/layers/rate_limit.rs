use std::{collections::VecDeque, sync::Arc, time::Duration};

use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

use crate::{
    layers::turn::await_turn,
    middleware::{Next, ToolCall, ToolMiddleware},
};

/// Makes calls wait that come too fast: in no stretch of the given length do more begin than the given number. They
/// continue in the order in which they came.
///
/// Around every tool it counts the calls of all tools together. Clones count together too, so that several
/// registries can share one limit. A call that waits counts as made, and its step's timeout runs: see
/// [`max_wait`](Self::max_wait). It ends with [`ToolError::Cancelled`] when its run is cancelled. A call that
/// was not made does not count.
#[derive(Debug, Clone)]
pub struct RateLimit {
    calls: usize,
    per: Duration,
    max_wait: Option<Duration>,
    /// When the last `calls` calls began. The next call holds it while it waits.
    begun: Arc<Mutex<VecDeque<Instant>>>,
}

impl RateLimit {
    /// Makes a layer that allows this many calls to begin in any stretch of this length. 0 calls count as 1.
    #[must_use]
    pub fn new(calls: usize, per: Duration) -> Self {
        Self {
            calls: calls.max(1),
            per,
            max_wait: None,
            begun: Arc::default(),
        }
    }

    /// Sets how long a call waits. A call that has waited this long is not made, and ends with
    /// [`ToolError::Unavailable`]. Default is for ever. Clones that were made before keep their own setting.
    #[must_use]
    pub const fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = Some(wait);
        self
    }

    async fn turn(&self) {
        let mut begun = self.begun.lock().await;
        if begun.len() >= self.calls {
            let since = begun.front().map_or(self.per, Instant::elapsed);
            if let Some(rest) = self.per.checked_sub(since).filter(|rest| !rest.is_zero()) {
                sleep(rest).await;
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
            await_turn(self.turn(), self.max_wait, call, ctx, "began just now").await?;
            next.run(call, ctx).await
        })
    }
}
