//! The readiness of this worker, which is whether Restate knows it, and its metrics.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use neuron_restate::Metrics;

use crate::Health;

/// The parts of the answers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RestateHealth {
    metrics: Arc<Metrics>,
    registered: Arc<AtomicBool>,
}

impl RestateHealth {
    /// Returns the health of a worker. If the worker registers itself, it is ready while Restate knows it.
    pub(crate) fn new(metrics: Arc<Metrics>, registers: bool) -> Self {
        Self {
            metrics,
            registered: Arc::new(AtomicBool::new(!registers)),
        }
    }

    pub(crate) fn set_registered(&self, is_registered: bool) {
        self.registered.store(is_registered, Ordering::Relaxed);
    }
}

impl Health for RestateHealth {
    async fn ready(&self) -> Result<(), String> {
        if self.registered.load(Ordering::Relaxed) {
            Ok(())
        } else {
            Err("Restate does not know this worker".to_owned())
        }
    }

    async fn metrics(&self) -> Result<String, String> {
        Ok(self.metrics.to_string())
    }
}
