//! The readiness of this worker, which is whether Restate knows it, and its metrics.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use neuron_engine::Health;

use crate::Metrics;

/// The readiness and the metrics of a worker on Restate. Clones are of the same worker.
#[derive(Debug, Clone)]
pub struct WorkerHealth {
    metrics: Arc<Metrics>,
    registered: Arc<AtomicBool>,
}

impl WorkerHealth {
    /// Returns the health of a worker with these [metrics](crate::AgentServices::metrics). If the worker registers itself,
    /// it is ready while Restate knows it: see [`keep_registered`](crate::RestateClient::keep_registered).
    #[must_use]
    pub fn new(metrics: Arc<Metrics>, registers: bool) -> Self {
        Self {
            metrics,
            registered: Arc::new(AtomicBool::new(!registers)),
        }
    }

    /// Sets whether Restate knows the worker.
    pub fn set_registered(&self, is_registered: bool) {
        self.registered.store(is_registered, Ordering::Relaxed);
    }

    pub(crate) fn is_registered(&self) -> bool {
        self.registered.load(Ordering::Relaxed)
    }
}

impl Health for WorkerHealth {
    async fn ready(&self) -> Result<(), String> {
        if self.is_registered() {
            Ok(())
        } else {
            Err("Restate does not know this worker".to_owned())
        }
    }

    async fn metrics(&self) -> Result<String, String> {
        Ok(self.metrics.to_string())
    }
}
