//! What passes a tool's reports on.

use std::{fmt, sync::Arc};

use neuron_types::{ProgressReporter, RunId, StepId, ToolCall};
use tokio_util::sync::CancellationToken;

use crate::{EventSink, LatestProgress, ProgressReport, StepScope, ToolProgress};

/// Takes the reports of one attempt at a call.
pub(crate) struct Reporter {
    sink: Option<Arc<dyn EventSink>>,
    run_id: RunId,
    step: StepId,
    attempt: u32,
    cancellation: CancellationToken,
    latest: LatestProgress,
    call_id: String,
    tool: String,
}

impl Reporter {
    pub(crate) fn new(
        sink: Option<Arc<dyn EventSink>>,
        scope: &StepScope,
        call: &ToolCall,
    ) -> Self {
        Self {
            sink,
            run_id: scope.run_id.clone(),
            step: scope.step,
            attempt: scope.attempt,
            cancellation: scope.cancellation.clone(),
            latest: scope.progress.clone(),
            call_id: call.id.clone(),
            tool: call.name.clone(),
        }
    }
}

impl ProgressReporter for Reporter {
    fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        // A tool that was given up may still be running.
        if self.cancellation.is_cancelled() {
            return;
        }
        let report = ProgressReport::new(progress, total, message);
        self.latest.set(report.clone());
        if let Some(sink) = &self.sink {
            sink.progress(&ToolProgress {
                run_id: self.run_id.clone(),
                step: self.step,
                attempt: self.attempt,
                call_id: self.call_id.clone(),
                tool: self.tool.clone(),
                report,
            });
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
