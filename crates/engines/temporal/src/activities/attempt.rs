//! One attempt of a step in the worker: heartbeats, cancellation, shutdown.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use neuron_executor::{EventSink, Executor, LatestProgress, StepScope};
use neuron_flow::StepLife;
use neuron_types::{FailureKind, RunId, StepFailure};
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::time::Instant;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::wire::{
    activity_inputs::Terms,
    activity_options::policy_of,
    failure::{activity_error, interrupted},
    heartbeat::Beat,
};

/// The shortest heartbeat interval, however short a step's timeout is.
const SHORTEST_BEAT: Duration = Duration::from_millis(10);

/// How long a local call that is cancelled has to end by itself. The run learns of the cancelled call only when its
/// worker reports, so this is shorter than for other calls; and a local call is no write.
const LOCAL_NOTICE: Duration = Duration::from_millis(500);

/// What all attempts of a worker share.
pub(crate) struct Attempts {
    /// The sink that is notified of attempts that are followed by another. The executors notify it of everything else.
    pub(crate) sink: Arc<dyn EventSink>,
    /// Cancelled when the worker shuts down.
    pub(crate) stopping: CancellationToken,
    /// The heartbeat interval of a step, unless a short timeout needs a shorter one.
    pub(crate) heartbeat_interval: Duration,
}

impl Attempts {
    /// Makes the attempt that Temporal requests from a worker.
    ///
    /// The executor's hooks are notified of what happened before the step, once for all of its attempts. Heartbeats are
    /// sent by a separate task, also while the work blocks its thread. They return cancellation, which ends the work
    /// through its scope.
    ///
    /// Returns the output, and the results of the failed attempts before it.
    pub(crate) async fn make<'a, T, F>(
        &self,
        ctx: &ActivityContext,
        executor: Result<&'a Executor, StepFailure>,
        terms: &Terms,
        work: impl FnOnce(&'a Executor, StepScope) -> F,
    ) -> Result<(T, StepLife), ActivityError>
    where
        F: Future<Output = Result<T, StepFailure>>,
    {
        let info = ctx.info();
        let cancellation = CancellationToken::new();
        let progress = LatestProgress::default();
        let before = beat_before(ctx);
        let mut life = before.life.clone().unwrap_or_else(|| terms.life.clone());
        let run_id = run_id(info.workflow_id.as_deref());
        let run_id = run_id.map_err(|failure| activity_error(&failure, None))?;
        let policy = policy_of(info.retry_policy.as_ref(), terms);
        let step = terms.of_step(&run_id, &policy);
        if let Some(failure) = life.lost(&step, before.lost_before(info.attempt)) {
            return Err(activity_error(&failure, None));
        }
        let notified = Arc::new(AtomicBool::new(before.notified));
        let result = match executor {
            Ok(executor) => {
                let scope = StepScope {
                    run_id: run_id.clone(),
                    step: terms.step,
                    agent: terms.step_agent.clone(),
                    nonce: terms.nonce,
                    trace: terms.trace.clone(),
                    tags: terms.tags.clone(),
                    root: terms.root.clone(),
                    allow: terms.allow.clone(),
                    bounds: terms.bounds.clone(),
                    guards: terms.guards.clone(),
                    skills: terms.skills.clone(),
                    priority: terms.priority,
                    attempt: info.attempt.saturating_add(terms.life.failed_attempts()),
                    timeout: terms.timeout(),
                    effects: terms.effects,
                    cancellation: cancellation.clone(),
                    progress: progress.clone(),
                };
                let work = async {
                    if !notified.load(Ordering::Relaxed) {
                        executor.observe(&scope.run(), &terms.events).await?;
                        notified.store(true, Ordering::Relaxed);
                    }
                    work(executor, scope).await
                };
                let beats = info.heartbeat_timeout.map(|timeout| {
                    let period = period(self.heartbeat_interval, timeout);
                    let (notified, progress) = (Arc::clone(&notified), progress.clone());
                    let before = before.clone();
                    let beats = beat(ctx.clone(), period, move || Beat {
                        notified: notified.load(Ordering::Relaxed),
                        progress: progress.get(),
                        ..before.clone()
                    });
                    AbortOnDropHandle::new(tokio::spawn(beats))
                });
                if beats.is_some() {
                    // A task that is spawned here moves to another thread only after this task has been polled once.
                    tokio::task::yield_now().await;
                }
                let result = tokio::select! {
                    biased;
                    result = work => result,
                    failure = pass_on(ctx, &cancellation) => Err(failure),
                };
                drop(beats);
                result
            }
            Err(failure) => Err(failure),
        };
        let failure = match result {
            Ok(output) => return Ok((output, life)),
            Err(failure) => failure,
        };
        let was_cancelled = failure.kind == FailureKind::Cancelled && cancellation.is_cancelled();
        let now = Utc::now();
        let again = match (was_cancelled, self.stopping.is_cancelled()) {
            (true, false) => return Err(ActivityError::cancelled()),
            // The worker ends the attempt as if it was lost.
            (true, true) => {
                let interrupted = interrupted(terms.effects).with_spent(failure.spent);
                life.interrupted(&step, interrupted, now)
            }
            (false, _) => life.failed(&step, failure, 1, now),
        };
        let (failure, delay) = match again {
            Ok(again) => {
                self.sink.retry(&again.notice);
                (again.notice.failure, Some(again.notice.delay))
            }
            Err(last) => (last, None),
        };
        if !info.is_local {
            // The next attempt reads this heartbeat. If the heartbeat is lost, the hooks are notified again.
            let beat = Beat {
                notified: notified.load(Ordering::Relaxed),
                progress: progress.get(),
                life: Some(life),
                answered: info.attempt,
            };
            drop(ctx.record_heartbeat(beat).await);
        }
        Err(activity_error(&failure, delay))
    }
}

fn run_id(workflow_id: Option<&str>) -> Result<RunId, StepFailure> {
    RunId::new(workflow_id.unwrap_or_default())
        .map_err(|error| StepFailure::new(FailureKind::Internal, error.to_string()))
}

/// Returns the last heartbeat of the attempts before this one.
fn beat_before(ctx: &ActivityContext) -> Beat {
    if ctx.info().is_local {
        // A local activity makes one attempt.
        return Beat::default();
    }
    let beat = ctx.heartbeat_details().deserialize::<Beat>();
    beat.ok().flatten().unwrap_or_default()
}

/// Notifies the executor that the step is cancelled, so that it ends the work. A local call that does not end soon is
/// dropped.
async fn pass_on(ctx: &ActivityContext, cancellation: &CancellationToken) -> StepFailure {
    ctx.cancelled().await;
    cancellation.cancel();
    if !ctx.info().is_local {
        return std::future::pending().await;
    }
    tokio::time::sleep(LOCAL_NOTICE).await;
    StepFailure::new(FailureKind::Cancelled, "the call was cancelled")
}

/// Returns the heartbeat interval of a step. Two heartbeats fit into the timeout, because one of them could be late.
fn period(interval: Duration, timeout: Duration) -> Duration {
    interval.min(timeout / 5 * 2).max(SHORTEST_BEAT)
}

/// Passes heartbeats to the SDK until it is aborted. A step that ends before the first heartbeat sends none.
async fn beat(ctx: ActivityContext, period: Duration, beat: impl Fn() -> Beat) {
    let mut beats = tokio::time::interval_at(Instant::now() + period, period);
    loop {
        beats.tick().await;
        if let Err(error) = ctx.record_heartbeat(beat()).await {
            tracing::warn!(%error, "a heartbeat was not written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_is_as_seldom_as_the_worker_and_the_timeout_allow() {
        let of_secs = Duration::from_secs; // Only compared, never waited for.
        assert_eq!(period(of_secs(5), of_secs(90)), of_secs(5));
        assert_eq!(period(of_secs(5), of_secs(10)), of_secs(4));
        assert_eq!(period(of_secs(60), of_secs(30)), of_secs(12));
        assert_eq!(period(of_secs(5), Duration::ZERO), SHORTEST_BEAT);
    }
}
