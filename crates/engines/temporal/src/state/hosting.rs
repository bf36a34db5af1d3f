//! What a worker provides to its workflows.

use std::sync::Arc;

use neuron_executor::{EventSink, Executors, NoSink};

use crate::state::{registered::Registered, segments::Segments};

/// What a worker provides to its workflows. None of it decides what a run does next.
#[derive(Clone)]
pub(crate) struct Hosting {
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) registered: Arc<Registered>,
    /// The executors that verify decisions when they arrive.
    pub(crate) executors: Executors,
}

/// The default is that of a replay: there is no worker.
impl Default for Hosting {
    fn default() -> Self {
        Self {
            sink: Arc::new(NoSink),
            segments: Arc::default(),
            registered: Arc::default(),
            executors: Executors::default(),
        }
    }
}
