//! The shared parts of a worker.

use std::sync::Arc;

use neuron_executor::{EventSink, Executors};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    attempts::{drain::Drain, metrics::Metrics, registry::Registry},
    worker::start_frame::Retried,
};

/// The worker's executors, its attempts in flight, and its metrics. Cheap to clone.
#[derive(Clone)]
pub(crate) struct WorkerContext {
    pub(crate) executors: Executors,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Arc<Drain>,
    pub(crate) registry: Arc<Registry>,
    /// The invocations that are retried.
    pub(crate) retried: Arc<Retried>,
    /// How many attempts are made at once. `None` is no limit.
    pub(crate) slots: Option<Arc<Semaphore>>,
}

impl WorkerContext {
    /// Waits for a slot for an attempt, which is taken until the result is dropped.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.slots.as_ref()?.acquire().await.ok()
    }
}
