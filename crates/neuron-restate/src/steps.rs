//! Steps: journaled attempts, the delays between them, and writes that are never made twice.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::lock::Mutex;
use neuron_runtime::{Executor, RetryNotice, StepScope, lost_write, next_delay};
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, CompletionResponse, DurableError, RunEvent,
    RunId, StepFailure, StepId, ToolCall, ToolEffects, ToolOutput,
};
use restate_sdk::{
    context::{RunFuture, RunRetryPolicy},
    endpoint::ContextInternal,
    errors::HandlerResult,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    cancellation::{Cancellation, Handle},
    executors::Acting,
    meter::{ASK, Meter, Size, Weighed},
    metrics::Kind,
    telling::Telling,
    wire::{Attempted, Started},
};

/// What the executor is asked for.
pub(crate) trait Effect: Sync {
    type Output: Serialize + DeserializeOwned + Send + 'static;

    const KIND: Kind;

    /// What the step is called in Restate's journal.
    fn label(&self, step: StepId) -> String;

    fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> impl Future<Output = Result<Self::Output, StepFailure>> + Send;
}

impl Effect for CompletionRequest {
    type Output = CompletionResponse;

    const KIND: Kind = Kind::Model;

    fn label(&self, step: StepId) -> String {
        match step.position {
            0 => format!("model {}", step.turn),
            _ => format!("summary {}", step.turn),
        }
    }

    async fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> Result<CompletionResponse, StepFailure> {
        executor.call_model(scope, self).await
    }
}

impl Effect for ToolCall {
    type Output = ToolOutput;

    const KIND: Kind = Kind::Tool;

    fn label(&self, step: StepId) -> String {
        format!("{} {}.{}", self.name, step.turn, step.position)
    }

    async fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> Result<ToolOutput, StepFailure> {
        executor.call_tool(scope, self).await
    }
}

/// What makes the steps of one invocation: the run's, or that of one tool call beside others.
pub(crate) struct Steps<'a> {
    pub(crate) ctx: &'a ContextInternal,
    pub(crate) acting: &'a Acting,
    pub(crate) run_id: &'a RunId,
    pub(crate) agent: &'a AgentSpec,
    /// How long a step looks out for its cancellation.
    pub(crate) watch: Duration,
    /// Held for the whole of an operation: the SDK wants one at a time.
    pub(crate) cancellation: Mutex<Cancellation<'a>>,
    pub(crate) meter: Meter,
    pub(crate) telling: Telling,
}

/// A step's result and the executor's time at its end.
pub(crate) type Settled<T> = (DateTime<Utc>, Result<T, StepFailure>);

impl<'a> Steps<'a> {
    /// Makes attempts until one is the last. Hooks are told `events` before the first.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`], also when the step failed because of it; what keeps the engine from
    /// journaling. The step's own failure is in the result.
    pub(crate) async fn perform<E: Effect>(
        &self,
        effect: &E,
        options: &ActivityOptions,
        events: &[RunEvent],
    ) -> Result<Settled<E::Output>, DurableError> {
        let mut cancellation = self.cancellation.lock().await;
        cancellation.check()?;
        let mut attempt = 1;
        loop {
            let attempted = self
                .attempt(&mut cancellation, effect, options, attempt, events)
                .await?;
            let stopped = attempted.stop.map(|stop| cancellation.stop(stop));
            let failure = match (attempted.result, stopped) {
                (Err(_), Some(stopped)) => return Err(stopped),
                (Err(failure), None) => failure,
                (Ok(output), _) => return Ok((attempted.at, Ok(output))),
            };
            let policy = &options.retry_policy;
            match next_delay(policy, options.effects, attempt, &failure) {
                None => return Ok((attempted.at, Err(failure))),
                Some(delay) => {
                    let (run_id, step) = (self.run_id.clone(), options.step);
                    let notice = RetryNotice::new(run_id, step, attempt, failure, delay);
                    self.telling.retry(&notice);
                    self.pause(&mut cancellation, delay).await?;
                }
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// One journaled attempt.
    async fn attempt<E: Effect>(
        &self,
        cancellation: &mut Cancellation<'a>,
        effect: &E,
        options: &ActivityOptions,
        attempt: u32,
        events: &[RunEvent],
    ) -> Result<Attempted<E::Output>, DurableError> {
        // Until its result is journaled.
        let _active = self.acting.drain.begin().await;
        let label = effect.label(options.step);
        let is_write = options.effects == ToolEffects::Write;
        let is_fresh = AtomicBool::new(!is_write);
        if is_write {
            let fresh = &is_fresh;
            let start = || async move {
                fresh.store(true, Ordering::Relaxed);
                Ok(Weighed::from(Utc::now()))
            };
            self.run(cancellation, format!("start {label}"), start)
                .await?;
        }
        let token = CancellationToken::new();
        let scope = StepScope::new(self.run_id.clone(), options, attempt, token.clone());
        let name = match attempt {
            1 => label.clone(),
            again => format!("{label} (attempt {again})"),
        };
        let work = async {
            let executor = self.acting.executor(self.agent)?;
            if attempt == 1 && !events.is_empty() {
                executor.observe(self.run_id, events).await?;
            }
            let metrics = &self.acting.metrics;
            metrics
                .count(E::KIND, effect.attempt(&executor, &scope))
                .await
        };
        let (step, token) = (Handle::next(self.ctx), &token);
        let (is_fresh, watched) = (is_fresh.load(Ordering::Relaxed), &mut *cancellation);
        let run = self.ctx.run(|| async move {
            self.telling.begin();
            let (result, stop) = if is_fresh {
                watched
                    .watch(self.ctx, step, self.watch, token, work)
                    .await
            } else {
                (Err(lost_write()), None)
            };
            if let Err(failure) = &result {
                let (run_id, kind) = (self.run_id, failure.kind);
                warn!(%run_id, step = label, attempt, %kind, "an attempt failed: {}", failure.message);
            }
            let at = Utc::now();
            HandlerResult::Ok(Weighed::from(Attempted { at, result, stop }))
        });
        self.meter.count(ASK);
        let run = run.retry_policy(no_retries()).name(name);
        match self.telling.watch(run).await {
            Ok(attempted) => Ok(self.meter.read(attempted)),
            Err(error) => Err(cancellation.engine_error(&error)),
        }
    }

    /// The time and the worker's settings, as a journaled step.
    pub(crate) async fn start(&self, most: Size) -> Result<Started, DurableError> {
        let mut cancellation = self.cancellation.lock().await;
        let start = || async move {
            let at = Utc::now();
            Ok(Weighed::from(Started { at, most }))
        };
        self.run(&mut cancellation, "start", start).await
    }

    /// Tells the hooks these events, as a journaled step, and answers the time. What they say to that does
    /// not count any more.
    pub(crate) async fn tell(&self, events: &[RunEvent]) -> Result<DateTime<Utc>, DurableError> {
        let mut cancellation = self.cancellation.lock().await;
        let work = || async {
            if let Ok(executor) = self.acting.executor(self.agent) {
                drop(executor.observe(self.run_id, events).await);
            }
            Ok(Weighed::from(Utc::now()))
        };
        self.run(&mut cancellation, "end", work).await
    }

    async fn run<T, F>(
        &self,
        cancellation: &mut Cancellation<'a>,
        name: impl Into<String>,
        work: impl FnOnce() -> F + Send,
    ) -> Result<T, DurableError>
    where
        T: Serialize + DeserializeOwned + 'static,
        F: Future<Output = HandlerResult<Weighed<T>>> + Send,
    {
        self.meter.count(ASK);
        let work = || {
            self.telling.begin();
            work()
        };
        let run = self.ctx.run(work).retry_policy(no_retries()).name(name);
        match self.telling.watch(run).await {
            Ok(value) => Ok(self.meter.read(value)),
            Err(error) => Err(cancellation.engine_error(&error)),
        }
    }

    /// Sleeps durably, unless the run is cancelled.
    pub(crate) async fn pause(
        &self,
        cancellation: &mut Cancellation<'a>,
        delay: Duration,
    ) -> Result<(), DurableError> {
        self.meter.count(ASK);
        let timer = self.ctx.sleep(delay);
        let race = cancellation.race(self.ctx, &[&timer]);
        self.telling.watch(race).await?;
        match timer.await {
            Ok(()) => Ok(()),
            Err(error) => Err(cancellation.engine_error(&error)),
        }
    }
}

/// Steps always succeed, with the failure as a value: what Restate would retry is the engine's own trouble.
fn no_retries() -> RunRetryPolicy {
    RunRetryPolicy::default().max_attempts(1)
}
