//! Steps of the workflow itself, which the journal has with their values.

use std::{future::Future, sync::Arc, time::Duration};

use chrono::Utc;
use neuron_engine::SegmentSize;
use neuron_executor::StepScope;
use neuron_types::{DurableError, Outcome, RunId, RunNotice, RunScope, Step, StepFailure};
use restate_sdk::{
    context::{RunFuture, RunRetryPolicy},
    endpoint::ContextInternal,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    attempts::{work::caught, worker_context::WorkerContext},
    door::{cancellation::Cancellation, sink_replay_filter::SinkReplayFilter},
    wire::{
        entries::Started,
        meter::{ASK, Meter, Weighed},
        service_names::ServiceNames,
    },
};

/// Makes the steps of one segment.
pub(crate) struct Steps<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) worker: &'a WorkerContext,
    pub(crate) names: &'a ServiceNames,
    pub(crate) run_id: &'a RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    pub(crate) meter: Meter,
    pub(crate) sink: SinkReplayFilter,
}

impl Steps<'_> {
    /// Returns the time and the worker's settings, and the result of the first step of a new run, as a journaled step.
    pub(crate) async fn start(
        &self,
        cancellation: &mut Cancellation<'_>,
        most: SegmentSize,
        pulse: Duration,
        first: Option<Step>,
        patches: Vec<String>,
        deployment: Option<String>,
    ) -> Result<Started, DurableError> {
        let start = || async move {
            Started {
                at: Utc::now(),
                most,
                nonce: Uuid::new_v4(),
                seed: Some(Uuid::new_v4()),
                has_hooks: self.has_hooks(),
                begun: match first {
                    Some(step) => Some(self.make(&step).await),
                    None => None,
                },
                pulse_ms: Started::pulse_ms(pulse),
                deployment,
                has_end_addresses: true,
                patches,
            }
        };
        let started = self.run(cancellation, "start", start).await?;
        Ok(self.meter.read(started))
    }

    /// Makes one attempt at a step that takes no time.
    async fn make(&self, step: &Step) -> Result<Outcome, StepFailure> {
        let Step { effect, options } = step;
        let token = CancellationToken::new();
        let scope = StepScope::new(self.run_id.clone(), options, 1, token);
        let executors = &self.worker.executors;
        caught(executors.perform(&self.agent, &scope, effect, &[])).await
    }

    fn has_hooks(&self) -> bool {
        let executor = self.worker.executors.of(&self.agent);
        executor.is_ok_and(|executor| executor.is_watched())
    }

    /// Notifies the hooks of the run's last events. Their answers do not count any more. This is a journaled step, if
    /// that is wanted, so that no replay notifies them again.
    pub(crate) async fn notify(
        &self,
        cancellation: &mut Cancellation<'_>,
        run: &RunScope,
        notices: &[RunNotice],
        is_step: bool,
    ) {
        let notify = || async {
            if let Ok(executor) = self.worker.executors.of(&self.agent) {
                drop(executor.observe(run, notices).await);
            }
        };
        if is_step {
            drop(self.run(cancellation, "end", notify).await);
        } else {
            // The journal has nothing from here on. A step would find that out.
            self.sink.begin();
            notify().await;
        }
    }

    /// Makes a step, unless the journal has it.
    ///
    /// Steps always succeed, with failures as values: what Restate would retry is a failure of the engine itself.
    pub(crate) async fn run<T, F>(
        &self,
        cancellation: &mut Cancellation<'_>,
        name: impl Into<String>,
        work: impl FnOnce() -> F + Send,
    ) -> Result<Weighed<T>, DurableError>
    where
        T: Serialize + DeserializeOwned + 'static,
        F: Future<Output = T> + Send,
    {
        self.meter.count(ASK);
        let run = self.ctx.run(|| async {
            self.sink.begin();
            Ok(Weighed::from(work().await))
        });
        let once = RunRetryPolicy::default().max_attempts(1);
        let run = run.retry_policy(once).name(name);
        let made = self.sink.watch(run).await;
        made.map_err(|error| cancellation.engine_error(&error))
    }
}
