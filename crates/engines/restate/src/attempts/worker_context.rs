//! What acts in a worker.

use std::sync::Arc;

use neuron_executor::{Agents, EventSink, Executors};

use crate::attempts::{drain::Drain, metrics::Metrics, registry::Registry};

/// What acts in this worker, what is under way in it, and what is counted of it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct WorkerContext {
    pub(crate) executors: Executors,
    pub(crate) agents: Agents,
    /// Whole definitions of agents are taken from callers.
    pub(crate) accepts_definitions: bool,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Arc<Drain>,
    pub(crate) registry: Arc<Registry>,
}
