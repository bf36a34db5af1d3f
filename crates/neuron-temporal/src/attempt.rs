//! One attempt of a step in the worker: heartbeats, cancellation, shutdown.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use neuron_runtime::{Executor, RetryNotice, StepScope, next_delay};
use neuron_types::{FailureKind, RunId, StepFailure};
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio_util::sync::CancellationToken;

use crate::{
    activities::AgentActivities,
    failure::{activity_error, interrupted},
    options::policy_of,
    payload::Terms,
};

/// How often a heartbeat is handed to the SDK, which sends them as seldom as the timeout allows.
const BEAT: Duration = Duration::from_secs(1);

/// How long a local call that is cancelled has to end by itself. The run hears of its cancellation only when
/// its worker reports, so less is left than for others; and a local call is no write.
const LOCAL_NOTICE: Duration = Duration::from_millis(500);

/// Makes the attempt that Temporal asks of a worker.
///
/// The executor's hooks are told what happened before the step, once for all of its attempts. Heartbeats go
/// out on their own and bring cancellation back; it ends the work through its scope.
pub(crate) async fn attempt<'a, T, F>(
    ctx: &ActivityContext,
    executor: Result<&'a Executor, StepFailure>,
    terms: &Terms,
    worker: &AgentActivities,
    work: impl FnOnce(&'a Executor, StepScope) -> F,
) -> Result<T, ActivityError>
where
    F: Future<Output = Result<T, StepFailure>>,
{
    let info = ctx.info();
    let cancellation = CancellationToken::new();
    let told = AtomicBool::new(was_told(ctx));
    let ready = run_id(info.workflow_id.as_deref()).and_then(|run_id| Ok((run_id, executor?)));
    let result = match ready {
        Ok((run_id, executor)) => {
            let scope = StepScope {
                run_id,
                step: terms.step,
                attempt: info.attempt,
                timeout: terms.timeout(),
                effects: terms.effects,
                cancellation: cancellation.clone(),
            };
            let work = async {
                if !told.load(Ordering::Relaxed) {
                    executor.observe(&scope.run_id, &terms.tell).await?;
                    told.store(true, Ordering::Relaxed);
                }
                work(executor, scope).await
            };
            tokio::select! {
                biased;
                result = work => result,
                failure = pass_on(ctx, &cancellation) => Err(failure),
                never = beat(ctx, info.heartbeat_timeout, &told) => match never {},
            }
        }
        Err(failure) => Err(failure),
    };
    let failure = match result {
        Ok(output) => return Ok(output),
        Err(failure) => failure,
    };
    if told.load(Ordering::Relaxed) {
        // The next attempt reads it. If it is lost, the hooks are told again.
        drop(ctx.record_heartbeat(true).await);
    }
    let was_cancelled = failure.kind == FailureKind::Cancelled && cancellation.is_cancelled();
    let failure = match (was_cancelled, worker.stopping.is_cancelled()) {
        (true, false) => return Err(ActivityError::cancelled()),
        (true, true) => interrupted(terms.effects),
        (false, _) => failure,
    };
    let policy = policy_of(info.retry_policy.as_ref());
    let delay = next_delay(&policy, terms.effects, info.attempt, &failure);
    if let (Some(delay), Ok(run_id)) = (delay, run_id(info.workflow_id.as_deref())) {
        let (step, failure) = (terms.step, failure.clone());
        let notice = RetryNotice::new(run_id, step, info.attempt, failure, delay);
        worker.sink.retry(&notice);
    }
    Err(activity_error(&failure, delay))
}

fn run_id(workflow_id: Option<&str>) -> Result<RunId, StepFailure> {
    RunId::new(workflow_id.unwrap_or_default())
        .map_err(|error| StepFailure::new(FailureKind::Internal, error.to_string()))
}

/// Whether the hooks were told with an attempt before this one. Local attempts are made in one process, and
/// start anew in another.
fn was_told(ctx: &ActivityContext) -> bool {
    if ctx.info().is_local {
        return ctx.info().attempt > 1;
    }
    matches!(
        ctx.heartbeat_details().deserialize::<bool>(),
        Ok(Some(true))
    )
}

enum Never {}

/// Tells the executor that the step is cancelled. It ends the work; a local call that it does not end soon is
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

/// Each heartbeat says whether the hooks have been told.
async fn beat(ctx: &ActivityContext, timeout: Option<Duration>, told: &AtomicBool) -> Never {
    let Some(timeout) = timeout else {
        return std::future::pending().await;
    };
    let mut beats = tokio::time::interval(BEAT.min(timeout / 4).max(Duration::from_millis(10)));
    loop {
        beats.tick().await;
        if let Err(error) = ctx.record_heartbeat(told.load(Ordering::Relaxed)).await {
            tracing::warn!(%error, "a heartbeat was not written");
        }
    }
}
