//! What a run has a worker do: a model call or a tool call, one attempt at a time.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use futures::FutureExt as _;
use neuron_executor::{Jitter, Needed, RetryNotice, StepScope, next_delay};
use neuron_types::{
    ActivityOptions, CompletionRequest, FailureKind, RunEvent, RunId, StepFailure, StepId,
    ToolCall, ToolEffects,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    attempts::{attempted::Attempted, metrics::Kind, worker_context::WorkerContext},
    wire::attempt_outcome::AttemptOutcome,
};

/// How many attempts of a step are journaled one by one.
const ONE_BY_ONE: u32 = 5;

/// For how long the attempts behind them are made before that is journaled.
const TOGETHER: Duration = Duration::from_secs(15 * 60);

/// A model call or a tool call of a run.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) run_id: RunId,
    /// The agent's name.
    pub(crate) agent: Arc<str>,
    pub(crate) call: Call,
    pub(crate) options: ActivityOptions,
    /// What the hooks are notified of before the first attempt.
    pub(crate) events: Vec<RunEvent>,
}

/// What the executor is asked for.
#[derive(Debug)]
pub(crate) enum Call {
    Model(CompletionRequest),
    Tool(ToolCall),
}

impl Work {
    pub(crate) fn is_write(&self) -> bool {
        self.options.effects == ToolEffects::Write
    }

    pub(crate) fn is_model(&self) -> bool {
        matches!(self.call, Call::Model(_))
    }

    /// What an attempt is called in Restate's journal.
    pub(crate) fn label(&self, attempt: u32) -> String {
        let StepId { turn, position, .. } = self.options.step;
        let step = match &self.call {
            Call::Model(_) if position == 0 => format!("model {turn}"),
            Call::Model(_) => format!("summary {turn}"),
            Call::Tool(call) => format!("{} {turn}.{position}", call.name),
        };
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
            let outcome = self.attempt(attempt, &worker, token.clone()).await;
            let outcome = outcome.with_spent_before(spent);
            made = made.saturating_add(1);
            let next = since.and_then(|since| {
                let failure = outcome.failure()?;
                let delay = self.next_delay(attempt, failure, since, Utc::now())?;
                let is_soon = delay < until.saturating_duration_since(Instant::now());
                is_soon.then(|| (failure.clone(), delay))
            });
            let Some((failure, delay)) = next else {
                return Attempted { outcome, made };
            };
            spent = failure.spent.clone();
            let (run_id, step) = (self.run_id.clone(), self.options.step);
            let notice = RetryNotice::new(run_id, step, attempt, failure, delay);
            worker.sink.retry(&notice);
            tokio::select! {
                biased;
                () = token.cancelled() => return Attempted { outcome, made },
                () = worker.drain.stopping() => return Attempted { outcome, made },
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
    ) -> AttemptOutcome {
        // Nobody else would say that it has ended.
        let made = AssertUnwindSafe(self.make(attempt, worker, token)).catch_unwind();
        let outcome = made.await.unwrap_or_else(|_| {
            let failure = StepFailure::new(FailureKind::Internal, "the attempt panicked");
            self.failed(failure)
        });
        if let Some(failure) = outcome.failure() {
            let (run_id, step, kind) = (&self.run_id, self.label(1), failure.kind);
            warn!(%run_id, step, attempt, %kind, "an attempt failed: {}", failure.message);
        }
        outcome
    }

    async fn make(
        &self,
        attempt: u32,
        worker: &WorkerContext,
        token: CancellationToken,
    ) -> AttemptOutcome {
        // Its clock does not run while it waits. One that is cancelled meanwhile ends by itself.
        let _slot = tokio::select! {
            biased;
            slot = worker.slot() => slot,
            () = token.cancelled() => None,
        };
        let (run_id, options) = (self.run_id.clone(), &self.options);
        let scope = StepScope::new(run_id, options, attempt, token);
        let (metrics, events) = (&worker.metrics, &self.events);
        let executor = async {
            let executor = worker.executors.of(&self.agent)?;
            // Whoever is notified of a step is notified once.
            executor.check(options.agent.as_deref(), self.call.needed())?;
            if attempt == 1 && !events.is_empty() {
                executor.observe(&self.run_id, events).await?;
            }
            Ok::<_, StepFailure>(executor)
        };
        match &self.call {
            Call::Model(request) => {
                let call = async { executor.await?.call_model(&scope, request).await };
                AttemptOutcome::Model(metrics.count(Kind::Model, call).await.map(Box::new))
            }
            Call::Tool(call) => {
                let call = async { executor.await?.call_tool(&scope, call).await };
                AttemptOutcome::Tool(metrics.count(Kind::Tool, call).await)
            }
        }
    }

    /// How long after this failure the next attempt starts, if there is another. `since` is when the first one failed.
    pub(crate) fn next_delay(
        &self,
        attempt: u32,
        failure: &StepFailure,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Option<Duration> {
        let options = &self.options;
        let policy = &options.retry_policy;
        let jitter = Jitter::of(&self.run_id, options);
        let delay = next_delay(policy, options.effects, &jitter, attempt, failure);
        let failing_for = (now - since).to_std().unwrap_or_default();
        delay.filter(|delay| policy.is_in_time(failing_for, *delay))
    }

    /// What it comes to with this failure.
    pub(crate) const fn failed(&self, failure: StepFailure) -> AttemptOutcome {
        self.call.failed(failure)
    }
}

impl Call {
    /// What an executor must have for it.
    fn needed(&self) -> Needed<'_> {
        match self {
            Self::Model(request) => Needed::Provider(request.provider.as_deref()),
            Self::Tool(call) => Needed::Tool(&call.name),
        }
    }

    /// What it comes to with this failure.
    pub(crate) const fn failed(&self, failure: StepFailure) -> AttemptOutcome {
        match self {
            Self::Model(_) => AttemptOutcome::Model(Err(failure)),
            Self::Tool(_) => AttemptOutcome::Tool(Err(failure)),
        }
    }
}
