//! What the workflows of a worker have of it.

use std::sync::Arc;

use neuron_executor::{EventSink, Executors, NoSink};

use crate::state::{registered::Registered, segments::Segments};

/// What the workflows of a worker have of it. Nothing of it decides what a run does next.
#[derive(Clone)]
pub(crate) struct Hosting {
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) segments: Arc<Segments>,
    pub(crate) registered: Arc<Registered>,
    /// They judge the decisions that arrive.
    pub(crate) executors: Executors,
}

/// That of a replay: there is no worker.
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
