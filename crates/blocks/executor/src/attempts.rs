//! Making the attempts of one step in this process.

use std::{fmt, future::Future, time::Duration};

use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableError, FailureKind, RunId,
    Spent, StepFailure, ToolCall, ToolOutput,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Executor, Jitter, RetryNotice, StepScope, cancelled_between, next_delay};

/// What an [`Executor`] is asked for: a model call, which is a [`CompletionRequest`], or a [`ToolCall`].
pub trait Effect: Sync {
    /// What it comes to.
    type Output: Send;

    /// Makes one attempt, as this executor does.
    ///
    /// # Errors
    ///
    /// Why the attempt failed; whether another may follow says [`next_delay`].
    fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> impl Future<Output = Result<Self::Output, StepFailure>> + Send;

    /// The output, with what the attempts used and cost that failed before it. Only model calls use anything.
    #[must_use]
    fn after_failures(output: Self::Output, _spent: Option<Box<Spent>>) -> Self::Output {
        output
    }
}

impl Effect for CompletionRequest {
    type Output = CompletionResponse;

    async fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> Result<CompletionResponse, StepFailure> {
        executor.call_model(scope, self).await
    }

    fn after_failures(
        response: CompletionResponse,
        spent: Option<Box<Spent>>,
    ) -> CompletionResponse {
        response.with_spent_before(spent)
    }
}

impl Effect for ToolCall {
    type Output = ToolOutput;

    async fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> Result<ToolOutput, StepFailure> {
        executor.call_tool(scope, self).await
    }
}

/// From where on the attempts of a step are made.
#[derive(Debug, Clone)]
pub struct NextAttempt {
    /// The number of the next attempt, counted from 1.
    pub attempt: u32,
    /// After how long it starts.
    pub delay: Duration,
    /// How long ago the first failed attempt was, if any failed.
    pub failing_for: Option<Duration>,
    /// What the failed attempts used and cost, as far as that is known: their last failure says so.
    pub spent: Option<Box<Spent>>,
}

/// The first attempt, at once.
impl Default for NextAttempt {
    fn default() -> Self {
        Self {
            attempt: 1,
            delay: Duration::ZERO,
            failing_for: None,
            spent: None,
        }
    }
}

/// An attempt that failed and is followed by another.
#[derive(Debug, Clone, Copy)]
pub struct FailedAttempt<'a> {
    /// Its number, counted from 1.
    pub attempt: u32,
    /// Why it failed, and what the attempts used and cost by then.
    pub failure: &'a StepFailure,
    /// After how long the next starts.
    pub delay: Duration,
    /// How long ago the first failed attempt was.
    pub failing_for: Duration,
}

/// Where failed attempts are kept. `()` keeps them nowhere.
pub trait AttemptLog: Sync {
    /// Keeps that an attempt failed, and when the next starts.
    ///
    /// # Errors
    ///
    /// What keeps it from being kept. The step ends with it.
    fn failed(
        &self,
        failed: FailedAttempt<'_>,
    ) -> impl Future<Output = Result<(), DurableError>> + Send;
}

/// Failed attempts are kept nowhere.
impl AttemptLog for () {
    async fn failed(&self, _: FailedAttempt<'_>) -> Result<(), DurableError> {
        Ok(())
    }
}

/// Makes the attempts of one step one after another, with the delays between them, in this process.
///
/// It is for doors without an engine that waits for them. Each attempt that is followed by another is kept in the
/// log first, and then the sink hears of it.
pub struct Attempts<'a, L> {
    /// Makes the attempts.
    pub executor: &'a Executor,
    /// The run.
    pub run_id: &'a RunId,
    /// The step: how long an attempt may take, and what follows a failed one.
    pub options: &'a ActivityOptions,
    /// Ends the attempt in flight, and the delay between two.
    pub cancellation: &'a CancellationToken,
    /// Hears of each attempt that is followed by another.
    pub sink: &'a dyn EventSink,
    /// Keeps each attempt that is followed by another.
    pub log: L,
}

impl<L: fmt::Debug> fmt::Debug for Attempts<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts")
            .field("run_id", &self.run_id)
            .field("options", &self.options)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl<L: AttemptLog> Attempts<'_, L> {
    /// Makes attempts from this one on, until one is the last: the next would be one too many, or would start later than
    /// the policy gives a step that fails.
    ///
    /// The inner result is the step's, with what failed attempts used and cost. A cancelled token makes it a cancelled failure, also between two
    /// attempts.
    ///
    /// # Errors
    ///
    /// The log's; [`DurableError::Step`] with a failure of kind [`FailureKind::NoWorker`] if this process lacks what the
    /// step needs: it is to be made elsewhere, and nothing was done.
    pub async fn make<E: Effect>(
        &self,
        effect: &E,
        next: NextAttempt,
    ) -> Result<Result<E::Output, StepFailure>, DurableError> {
        let jitter = Jitter::of(self.run_id, self.options);
        let NextAttempt {
            mut attempt,
            mut delay,
            failing_for,
            mut spent,
        } = next;
        let mut failing = failing_for.map(|so_far| (so_far, Instant::now()));
        loop {
            if !delay.is_zero() && self.cancelled_during(delay).await {
                return Ok(Err(cancelled_between().with_spent(spent)));
            }
            let scope = StepScope::new(
                self.run_id.clone(),
                self.options,
                attempt,
                self.cancellation.clone(),
            );
            let failure = match effect.attempt(self.executor, &scope).await {
                Ok(output) => return Ok(Ok(E::after_failures(output, spent))),
                Err(failure) if failure.kind == FailureKind::NoWorker => return Err(failure.into()),
                Err(failure) => failure.with_spent(spent),
            };
            spent = failure.spent.clone();
            let ActivityOptions {
                retry_policy,
                effects,
                step,
                ..
            } = self.options;
            let (so_far, since) = *failing.get_or_insert_with(|| (Duration::ZERO, Instant::now()));
            let failing_for = so_far.saturating_add(since.elapsed());
            let next = next_delay(retry_policy, *effects, &jitter, attempt, &failure);
            let next = next.filter(|delay| retry_policy.is_in_time(failing_for, *delay));
            delay = match next {
                Some(delay) if !self.cancellation.is_cancelled() => delay,
                _ => return Ok(Err(failure)),
            };
            let failed = FailedAttempt {
                attempt,
                failure: &failure,
                delay,
                failing_for,
            };
            self.log.failed(failed).await?;
            self.sink.retry(&RetryNotice {
                run_id: self.run_id.clone(),
                step: *step,
                attempt,
                failure,
                delay,
            });
            attempt = attempt.saturating_add(1);
        }
    }

    async fn cancelled_during(&self, delay: Duration) -> bool {
        tokio::time::timeout(delay, self.cancellation.cancelled())
            .await
            .is_ok()
    }
}
