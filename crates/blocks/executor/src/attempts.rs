//! Making the attempts of one step in this process.

use std::{fmt, future::Future, time::Duration};

use chrono::{DateTime, Utc};
use neuron_flow::{Again, StepLife, StepTerms, cancelled_between};
use neuron_types::{DurableError, FailureKind, Outcome, RunId, Step, StepFailure};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Executor, StepScope};

/// Where failed attempts are kept. `()` keeps them nowhere.
pub trait AttemptLog: Sync {
    /// Keeps that an attempt failed, and when the next starts.
    ///
    /// # Errors
    ///
    /// What keeps it from being kept. The step ends with it.
    fn failed(&self, again: &Again) -> impl Future<Output = Result<(), DurableError>> + Send;
}

/// Failed attempts are kept nowhere.
impl AttemptLog for () {
    async fn failed(&self, _: &Again) -> Result<(), DurableError> {
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
    /// Makes attempts from where the step is on, until one is the last: the next would be one too many, or would start later
    /// than the policy gives a step that fails.
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
        mut life: StepLife,
    ) -> Result<Result<Outcome, StepFailure>, DurableError> {
        let Step { effect, options } = self.step;
        let terms = StepTerms::of(self.run_id, options);
        // A step that fails is timed by the monotonic clock, whatever becomes of the wall's.
        let clock = Clock::start();
        loop {
            let delay = life.due().map_or(Duration::ZERO, |due| clock.until(due));
            if !delay.is_zero() && self.cancelled_during(delay).await {
                return Ok(Err(life.ends_with(cancelled_between())));
            }
            let (run_id, token) = (self.run_id.clone(), self.cancellation.clone());
            let scope = StepScope::new(run_id, options, life.attempt(), token);
            let failure = match self.executor.perform(&scope, effect).await {
                Ok(outcome) => return Ok(Ok(life.succeeded(outcome))),
                Err(failure) if failure.kind == FailureKind::NoWorker => return Err(failure.into()),
                Err(failure) => failure,
            };
            if self.cancellation.is_cancelled() {
                return Ok(Err(life.ends_with(failure)));
            }
            match life.failed(&terms, failure, 1, clock.now()) {
                Ok(again) => {
                    self.log.failed(&again).await?;
                    self.sink.retry(&again.notice);
                }
                Err(last) => return Ok(Err(last)),
            }
        }
    }

    async fn cancelled_during(&self, delay: Duration) -> bool {
        tokio::time::timeout(delay, self.cancellation.cancelled())
            .await
            .is_ok()
    }
}

/// The wall clock at some time, and how long ago that was.
struct Clock {
    wall: DateTime<Utc>,
    since: Instant,
}

impl Clock {
    fn start() -> Self {
        Self {
            wall: Utc::now(),
            since: Instant::now(),
        }
    }

    fn now(&self) -> DateTime<Utc> {
        self.wall + self.since.elapsed()
    }

    fn until(&self, due: DateTime<Utc>) -> Duration {
        (due - self.now()).to_std().unwrap_or_default()
    }
}
