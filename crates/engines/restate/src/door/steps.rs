//! Steps of the workflow's own, which the journal holds with their values.

use std::{future::Future, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use neuron_engine::SegmentSize;
use neuron_executor::input_mismatch;
use neuron_types::{DurableError, RunEvent, RunId};
use restate_sdk::{
    context::{RunFuture, RunRetryPolicy},
    endpoint::ContextInternal,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    attempts::worker_context::WorkerContext,
    door::{
        agent_given::AgentGiven, cancellation::Cancellation, sink_replay_filter::SinkReplayFilter,
    },
    wire::{
        entries::{FoundAgent, Started},
        meter::{ASK, Meter, Weighed},
    },
};

/// What makes the steps of one segment.
pub(crate) struct Steps<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) worker: &'a WorkerContext,
    pub(crate) run_id: &'a RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    pub(crate) meter: Meter,
    pub(crate) sink: SinkReplayFilter,
}

impl Steps<'_> {
    /// The time and the worker's settings, and what the worker says of the agent, as a journaled step.
    pub(crate) async fn start(
        &self,
        cancellation: &mut Cancellation<'_>,
        most: SegmentSize,
        pulse: Duration,
        given: AgentGiven,
        patches: Vec<String>,
    ) -> Result<Started, DurableError> {
        let start = || async move {
            Started {
                at: Utc::now(),
                most,
                nonce: Uuid::new_v4(),
                seed: Some(Uuid::new_v4()),
                has_hooks: self.has_hooks(),
                agent: (given == AgentGiven::ByName).then(|| self.agent_here(&self.agent)),
                is_signed: given == AgentGiven::Whole
                    && self.worker.executors.verify_decisions_of(&self.agent),
                is_rejected: given == AgentGiven::Whole && !self.worker.accepts_definitions,
                pulse_ms: Started::pulse_ms(pulse),
                patches,
            }
        };
        let started = self.run(cancellation, "start", start).await?;
        Ok(self.meter.read(started))
    }

    /// Looks once more for the definition of an agent, as a journaled step that tells the time, too.
    pub(crate) async fn find_agent(
        &self,
        cancellation: &mut Cancellation<'_>,
        name: &str,
    ) -> Result<(DateTime<Utc>, FoundAgent), DurableError> {
        let find = || async { (Utc::now(), self.agent_here(name)) };
        let found = self.run(cancellation, "find agent", find).await?;
        Ok(self.meter.read(found))
    }

    /// Finds why a prompt does not fit this schema, `None` if it does, as a journaled step that tells the time, too.
    pub(crate) async fn check_input(
        &self,
        cancellation: &mut Cancellation<'_>,
        schema: &Value,
        prompt: &str,
    ) -> Result<(DateTime<Utc>, Option<String>), DurableError> {
        let check = || async { (Utc::now(), input_mismatch(schema, prompt)) };
        let checked = self.run(cancellation, "check input", check).await?;
        Ok(self.meter.read(checked))
    }

    fn agent_here(&self, name: &str) -> FoundAgent {
        let found = self.worker.agents.get(name).cloned();
        let found = found.map(|found| Box::new(self.worker.executors.as_given(found)));
        found.map_err(|unknown| unknown.to_string())
    }

    fn has_hooks(&self) -> bool {
        let executor = self.worker.executors.of(&self.agent);
        executor.is_ok_and(|executor| executor.has_hooks())
    }

    /// Notifies the hooks of these events, which are the run's last. What they say to that does not count any more.
    /// As a journaled step, where that is wanted, so that no replay notifies them again.
    pub(crate) async fn notify(
        &self,
        cancellation: &mut Cancellation<'_>,
        events: &[RunEvent],
        is_step: bool,
    ) {
        let notify = || async {
            if let Ok(executor) = self.worker.executors.of(&self.agent) {
                drop(executor.observe(self.run_id, events).await);
            }
        };
        if is_step {
            drop(self.run(cancellation, "end", notify).await);
        } else {
            // The journal knows nothing of what comes now. A step would find that out.
            self.sink.begin();
            notify().await;
        }
    }

    /// Makes a step, unless the journal has it.
    ///
    /// Steps always succeed, with failures as values: what Restate would retry is the engine's own trouble.
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
