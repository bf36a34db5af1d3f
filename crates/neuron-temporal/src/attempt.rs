//! One attempt of a step in the worker: heartbeats, cancellation, shutdown.

use std::{future::Future, time::Duration};

use neuron_runtime::StepScope;
use neuron_types::{FailureKind, RunId, StepFailure};
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio_util::sync::CancellationToken;

use crate::{
    failure::{activity_error, interrupted},
    options::policy_of,
    payload::Terms,
};

/// How often a heartbeat is handed to the SDK, which sends them as seldom as the timeout allows.
const BEAT: Duration = Duration::from_secs(1);

/// Makes the attempt that Temporal asks for. `stopping` says that the worker shuts down.
///
/// Heartbeats go out on their own and bring cancellation back; it ends the work through its scope.
pub(crate) async fn attempt<T, F>(
    ctx: &ActivityContext,
    terms: &Terms,
    stopping: &CancellationToken,
    work: impl FnOnce(StepScope) -> F,
) -> Result<T, ActivityError>
where
    F: Future<Output = Result<T, StepFailure>>,
{
    let info = ctx.info();
    let cancellation = CancellationToken::new();
    let result = match run_id(info.workflow_id.as_deref()) {
        Ok(run_id) => {
            let scope = StepScope {
                run_id,
                step: terms.step,
                attempt: info.attempt,
                timeout: terms.timeout(),
                effects: terms.effects,
                cancellation: cancellation.clone(),
            };
            tokio::select! {
                biased;
                result = work(scope) => result,
                never = pass_on(ctx, &cancellation) => match never {},
                never = beat(ctx, info.heartbeat_timeout) => match never {},
            }
        }
        Err(failure) => Err(failure),
    };
    let failure = match result {
        Ok(output) => return Ok(output),
        Err(failure) => failure,
    };
    let was_cancelled = failure.kind == FailureKind::Cancelled && cancellation.is_cancelled();
    let failure = match (was_cancelled, stopping.is_cancelled()) {
        (true, false) => return Err(ActivityError::cancelled()),
        (true, true) => interrupted(terms.effects),
        (false, _) => failure,
    };
    let policy = policy_of(info.retry_policy.as_ref());
    Err(activity_error(
        &failure,
        &policy,
        terms.effects,
        info.attempt,
    ))
}

fn run_id(workflow_id: Option<&str>) -> Result<RunId, StepFailure> {
    RunId::new(workflow_id.unwrap_or_default())
        .map_err(|error| StepFailure::new(FailureKind::Internal, error.to_string()))
}

enum Never {}

async fn pass_on(ctx: &ActivityContext, cancellation: &CancellationToken) -> Never {
    ctx.cancelled().await;
    cancellation.cancel();
    std::future::pending().await
}

async fn beat(ctx: &ActivityContext, timeout: Option<Duration>) -> Never {
    let Some(timeout) = timeout else {
        return std::future::pending().await;
    };
    let mut beats = tokio::time::interval(BEAT.min(timeout / 4).max(Duration::from_millis(10)));
    loop {
        beats.tick().await;
        if let Err(error) = ctx.record_heartbeat(()).await {
            tracing::warn!(%error, "a heartbeat was not written");
        }
    }
}
