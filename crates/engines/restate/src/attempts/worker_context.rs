//! What acts in a worker.

use std::sync::Arc;

use neuron_executor::{EventSink, Executors};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    attempts::{drain::Drain, metrics::Metrics, registry::Registry},
    worker::start_frame::Retried,
};

/// What acts in this worker, what is under way in it, and what is counted of it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct WorkerContext {
    pub(crate) executors: Executors,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Arc<Drain>,
    pub(crate) registry: Arc<Registry>,
    /// The invocations that are attempted again.
    pub(crate) retried: Arc<Retried>,
    /// How many attempts are made at once. `None` is any number.
    pub(crate) slots: Option<Arc<Semaphore>>,
}

impl WorkerContext {
    /// Waits until an attempt may be made, which lasts until the result is dropped.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.slots.as_ref()?.acquire().await.ok()
    }
}
