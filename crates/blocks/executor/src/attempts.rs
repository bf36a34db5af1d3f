//! Making the attempts of one step in this process.

use std::{fmt, future::Future, time::Duration};

use neuron_types::{
    ActivityOptions, DurableError, FailureKind, Outcome, RunId, Spent, Step, StepFailure,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Executor, Jitter, RetryNotice, StepScope, cancelled_between, next_delay};

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
    /// The step: what is done, how long an attempt may take, and what follows a failed one.
    pub step: &'a Step,
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
            .field("options", &self.step.options)
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
    pub async fn make(
        &self,
        next: NextAttempt,
    ) -> Result<Result<Outcome, StepFailure>, DurableError> {
        let Step { effect, options } = self.step;
        let jitter = Jitter::of(self.run_id, options);
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
            let (run_id, token) = (self.run_id.clone(), self.cancellation.clone());
            let scope = StepScope::new(run_id, options, attempt, token);
            let failure = match self.executor.perform(&scope, effect).await {
                Ok(outcome) => return Ok(Ok(outcome.with_spent_before(spent))),
                Err(failure) if failure.kind == FailureKind::NoWorker => return Err(failure.into()),
                Err(failure) => failure.with_spent(spent),
            };
            spent = failure.spent.clone();
            let ActivityOptions {
                retry_policy,
                effects,
                step,
                ..
            } = options;
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
