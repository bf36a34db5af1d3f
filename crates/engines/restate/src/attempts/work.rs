//! What a run has a worker do, one attempt at a time.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use futures::FutureExt as _;
use neuron_executor::{Jitter, RetryNotice, StepScope, next_delay};
use neuron_types::{Effect, FailureKind, RunEvent, RunId, Step, StepFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::attempts::{
    attempted::{Attempted, StepResult, with_spent_before},
    metrics::Kind,
    worker_context::WorkerContext,
};

/// How many attempts of a step are journaled one by one.
const ONE_BY_ONE: u32 = 5;

/// For how long the attempts behind them are made before that is journaled.
const TOGETHER: Duration = Duration::from_secs(15 * 60);

/// A step of a run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) run_id: RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    pub(crate) step: Step,
    /// What the hooks are notified of before the first attempt.
    pub(crate) events: Vec<RunEvent>,
}

impl Work {
    pub(crate) fn is_write(&self) -> bool {
        self.step.is_write()
    }

    pub(crate) const fn is_model(&self) -> bool {
        matches!(self.step.effect, Effect::Model(_) | Effect::Summary(_))
    }

    /// What an attempt is called in Restate's journal.
    pub(crate) fn label(&self, attempt: u32) -> String {
        let step = self.step.label();
        match attempt {
            1 => step,
            again => format!("{step} (attempt {again})"),
        }
    }

    /// Makes one attempt. At a step that failed often, the attempts of a while: until one is the last, the while is over,
    /// or the step or the worker is to end.
    ///
    /// So an outage costs a journal of a bounded size, however many attempts it takes.
    pub(crate) async fn attempts(
        self: Arc<Self>,
        first: u32,
        failing_since: Option<DateTime<Utc>>,
        worker: WorkerContext,
        token: CancellationToken,
    ) -> Attempted {
        let since = failing_since.filter(|_| first > ONE_BY_ONE);
        let until = Instant::now() + TOGETHER;
        let mut made = 0;
        let mut spent = None;
        loop {
            let attempt = first.saturating_add(made);
            let result = self.attempt(attempt, &worker, token.clone()).await;
            let result = with_spent_before(result, spent);
            made = made.saturating_add(1);
            let next = since.and_then(|since| {
                let failure = result.as_ref().err()?;
                let delay = self.next_delay(attempt, failure, since, Utc::now())?;
                let is_soon = delay < until.saturating_duration_since(Instant::now());
                is_soon.then(|| (failure.clone(), delay))
            });
            let Some((failure, delay)) = next else {
                return Attempted { result, made };
            };
            spent = failure.spent.clone();
            let (run_id, step) = (self.run_id.clone(), self.step.options.step);
            let notice = RetryNotice::new(run_id, step, attempt, failure, delay);
            worker.sink.retry(&notice);
            tokio::select! {
                biased;
                () = token.cancelled() => return Attempted { result, made },
                () = worker.drain.stopping() => return Attempted { result, made },
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    /// Makes one attempt.
    async fn attempt(
        &self,
        attempt: u32,
        worker: &WorkerContext,
        token: CancellationToken,
    ) -> StepResult {
        // Nobody else would say that it has ended.
        let made = AssertUnwindSafe(self.make(attempt, worker, token)).catch_unwind();
        let result = made.await.unwrap_or_else(|_| {
            let failure = StepFailure::new(FailureKind::Internal, "the attempt panicked");
            Err(failure)
        });
        if let Err(failure) = &result {
            let (run_id, step, kind) = (&self.run_id, self.label(1), failure.kind);
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
        // Its clock does not run while it waits. One that is cancelled meanwhile ends by itself.
        let _slot = tokio::select! {
            biased;
            slot = worker.slot() => slot,
            () = token.cancelled() => None,
        };
        let Step { effect, options } = &self.step;
        let scope = StepScope::new(self.run_id.clone(), options, attempt, token);
        let events = if attempt == 1 {
            self.events.as_slice()
        } else {
            &[]
        };
        let (agent, executors) = (&self.agent, &worker.executors);
        let performed = executors.perform(agent, &scope, effect, events);
        worker.metrics.count(Kind::of(effect), performed).await
    }

    /// How long after this failure the next attempt starts, if there is another. `since` is when the first one failed.
    pub(crate) fn next_delay(
        &self,
        attempt: u32,
        failure: &StepFailure,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Option<Duration> {
        let options = &self.step.options;
        let policy = &options.retry_policy;
        let jitter = Jitter::of(&self.run_id, options);
        let delay = next_delay(policy, options.effects, &jitter, attempt, failure);
        let failing_for = (now - since).to_std().unwrap_or_default();
        delay.filter(|delay| policy.is_in_time(failing_for, *delay))
    }
}
