//! An answer that breaks off and is made again, for any door, and checks of what a worker's sink got of it.

use std::{sync::Arc, time::Duration};

use neuron_executor::{EventSink, Executor};
use neuron_types::{AgentSpec, FailureKind, RecordedEvent, RequestHead, RunOutput};

use crate::{Pieces, StreamingModel, Watcher};

/// An agent whose only answer breaks off after two pieces and is made again in three.
#[derive(Debug)]
pub struct BrokenOffAnswer {
    /// The agent.
    pub spec: AgentSpec,
    /// The executor of the model calls of one run.
    pub executor: Executor,
    watcher: Arc<Watcher>,
}

impl Default for BrokenOffAnswer {
    fn default() -> Self {
        let model = StreamingModel::new([
            Pieces::failure(&["Hel", "lo, wor"], FailureKind::Network),
            Pieces::answer(&["Good", " day", "."]),
        ]);
        let mut spec = AgentSpec {
            head: RequestHead {
                provider: Some("pieces".into()),
                model: "streaming".into(),
                ..RequestHead::default()
            }
            .into(),
            ..AgentSpec::default()
        };
        spec.retry.initial_interval = Duration::from_millis(50); // Only so that it does not take long.
        Self {
            spec,
            executor: Executor::builder().provider("pieces", model).build(),
            watcher: Arc::default(),
        }
    }
}

impl BrokenOffAnswer {
    /// Returns the sink that the worker needs.
    #[must_use]
    pub fn sink(&self) -> Arc<dyn EventSink> {
        Arc::clone(&self.watcher) as Arc<dyn EventSink>
    }

    /// Checks that the sink got both attempts, the failure between them, and the events that the run recorded.
    ///
    /// # Panics
    ///
    /// If it did not.
    pub fn check(&self, output: &RunOutput, recorded: &[RecordedEvent]) {
        assert_eq!(output.output.as_deref(), Some("Good day."), "{output:?}");
        let told = ["1.0 Hel", "1.1 lo, wor", "2.0 Good", "2.1  day", "2.2 ."];
        let told = told.map(|piece| format!("{} 1.{piece}", output.run_id));
        assert_eq!(self.watcher.texts(), told);
        let retries = self.watcher.retries();
        let [notice] = retries.as_slice() else {
            panic!("one attempt failed: {retries:?}");
        };
        assert_eq!((notice.step.turn, notice.attempt), (1, 1));
        assert_eq!(notice.failure.kind, FailureKind::Network);
        assert!(!notice.delay.is_zero());
        assert_eq!(self.watcher.log(), recorded);
    }
}
