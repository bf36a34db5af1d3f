//! Keeps the progress that is reported to it.

use std::sync::{Arc, Mutex};

use neuron_types::{ProgressReporter, ToolContext};

#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<(f64, Option<f64>)>>);

impl Recorder {
    pub(crate) fn reports(&self) -> Vec<(f64, Option<f64>)> {
        self.0.lock().unwrap().clone()
    }
}

impl ProgressReporter for Recorder {
    fn report(&self, progress: f64, total: Option<f64>, _: Option<&str>) {
        self.0.lock().unwrap().push((progress, total));
    }
}

/// A context, and what is reported to it.
pub(crate) fn context() -> (ToolContext, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let ctx = ToolContext {
        progress_reporter: Some(recorder.clone()),
        ..ToolContext::default()
    };
    (ctx, recorder)
}
