//! The sink that is notified of what blocks a run.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use neuron_executor::{EventSink, NoSink};

/// The sink that is notified of what blocks a run in this process. It is empty at first.
pub(crate) struct Watcher(Mutex<Arc<dyn EventSink>>);

impl Default for Watcher {
    fn default() -> Self {
        Self(Mutex::new(Arc::new(NoSink)))
    }
}

impl Watcher {
    pub(crate) fn set(&self, sink: Arc<dyn EventSink>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    }

    pub(crate) fn stalled(&self, why: &str) {
        let sink = Arc::clone(&*self.0.lock().unwrap_or_else(PoisonError::into_inner));
        sink.stalled(why);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}
