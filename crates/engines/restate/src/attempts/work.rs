//! The steps that a worker makes for a run, one attempt at a time.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use chrono::Utc;
use futures::FutureExt as _;
use neuron_executor::StepScope;
use neuron_flow::{StepLife, StepTerms};
use neuron_types::{FailureKind, RunId, RunNotice, Step, StepFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::attempts::{
    attempted::{Attempted, StepResult},
    metrics::Kind,
    tasks::Key,
    worker_context::WorkerContext,
};

/// How many attempts of a step are journaled one by one.
const ONE_BY_ONE: u32 = 5;

/// For how long further attempts are made before their result is journaled.
const TOGETHER: Duration = Duration::from_secs(15 * 60);

/// A step of a run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) run_id: RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    pub(crate) step: Arc<Step>,
    /// The results of the attempts before.
    pub(crate) life: StepLife,
    /// The events that the hooks are notified of before the step.
    pub(crate) events: Vec<RunNotice>,
    /// The attempt's key in the segment.
    pub(crate) key: Key,
}

impl Work {
    /// Makes one attempt. For a step that failed often, makes attempts for a while: until one is the last, the while is
    /// over, or the step or the worker is to end.
    ///
    /// So an outage adds a bounded size to the journal, however many attempts it takes.
    pub(crate) async fn attempts(
        self,
        worker: WorkerContext,
        token: CancellationToken,
    ) -> Attempted {
        let terms = StepTerms::of(&self.run_id, &self.step.options);
        let are_together = self.life.failed_attempts() >= ONE_BY_ONE;
        let until = Instant::now() + TOGETHER;
        // What was used before is in the journal.
        let mut life = self.life.clone().without_spent();
        let mut made = 0;
        loop {
            let result = self.attempt(life.attempt(), &worker, token.clone()).await;
            made += 1;
            let failure = match result {
                Ok(outcome) => {
                    let result = Ok(life.succeeded(outcome));
                    return Attempted { result, made };
                }
                Err(failure) if !are_together => return Err(failure).into(),
                Err(failure) => failure,
            };
            let again = match life.failed(&terms, failure, 1, Utc::now()) {
                Ok(again) => again,
                Err(last) => {
                    let result = Err(last);
                    return Attempted { result, made };
                }
            };
            let delay = again.notice.delay;
            if delay < until.saturating_duration_since(Instant::now()) {
                worker.sink.retry(&again.notice);
                tokio::select! {
                    biased;
                    () = token.cancelled() => {}
                    () = worker.drain.stopping() => {}
                    () = tokio::time::sleep(delay) => continue,
                }
            }
            let result = Err(again.notice.failure);
            return Attempted { result, made };
        }
    }

    /// Makes one attempt.
    async fn attempt(
        &self,
        attempt: u32,
        worker: &WorkerContext,
        token: CancellationToken,
    ) -> StepResult {
        let result = caught(self.make(attempt, worker, token)).await;
        if let Err(failure) = &result {
            let (run_id, step, kind) = (&self.run_id, self.step.label(), failure.kind);
            warn!(%run_id, step, attempt, %kind, "an attempt failed: {}", failure.message);
        }
        result
    }

    async fn make(
        &self,
        attempt: u32,
        worker: &WorkerContext,
        token: CancellationToken,
    ) -> StepResult {
        // The attempt's clock is paused while it waits for a slot. An attempt that is cancelled meanwhile ends by
        // itself.
        let _slot = tokio::select! {
            biased;
            slot = worker.slot() => slot,
            () = token.cancelled() => None,
        };
        let Step { effect, options } = &*self.step;
        let scope = StepScope::new(self.run_id.clone(), options, attempt, token);
        let (agent, executors) = (&self.agent, &worker.executors);
        let performed = executors.perform(agent, &scope, effect, &self.events);
        worker.metrics.count(Kind::of(effect), performed).await
    }
}

/// Returns the result of an attempt, which is a failure if the attempt panics: otherwise its end would go unnoticed.
pub(crate) async fn caught(made: impl Future<Output = StepResult>) -> StepResult {
    let made = AssertUnwindSafe(made).catch_unwind().await;
    made.unwrap_or_else(|_| {
        let failure = StepFailure::new(FailureKind::Internal, "the attempt panicked");
        Err(failure)
    })
}
