//! Making the attempts of one step: the loop that both local doors share.

use std::{future::Future, time::Duration};

use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableError, FailureKind, RunId,
    StepFailure, ToolCall, ToolOutput,
};
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Executor, RetryNotice, StepScope, next_delay};

/// What the executor is asked for.
pub(crate) trait Effect: Sync {
    type Output: Send;

    fn attempt(
        &self,
        executor: &Executor,
        scope: &StepScope,
    ) -> impl Future<Output = Result<Self::Output, StepFailure>> + Send;
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

/// Where failed attempts are kept.
pub(crate) trait AttemptLog: Sync {
    /// An attempt failed, and the next starts after `delay`.
    fn failed(
        &self,
        attempt: u32,
        failure: &StepFailure,
        delay: Duration,
    ) -> impl Future<Output = Result<(), DurableError>> + Send;
}

/// Failed attempts are kept nowhere.
impl AttemptLog for () {
    async fn failed(&self, _: u32, _: &StepFailure, _: Duration) -> Result<(), DurableError> {
        Ok(())
    }
}

/// How the attempts of one step are made.
pub(crate) struct Attempts<'a, L> {
    pub(crate) executor: &'a Executor,
    pub(crate) run_id: &'a RunId,
    pub(crate) options: &'a ActivityOptions,
    pub(crate) cancellation: &'a CancellationToken,
    pub(crate) sink: &'a dyn EventSink,
    pub(crate) log: L,
}

impl<L: AttemptLog> Attempts<'_, L> {
    /// Makes attempts from number `first` on, which starts after `delay`, until one is the last.
    ///
    /// The inner result is the step's. A cancelled token makes it a cancelled failure, also between two
    /// attempts. The outer error is the log's.
    pub(crate) async fn make<E: Effect>(
        &self,
        effect: &E,
        first: u32,
        mut delay: Duration,
    ) -> Result<Result<E::Output, StepFailure>, DurableError> {
        let mut attempt = first;
        loop {
            if !delay.is_zero() && self.cancelled_during(delay).await {
                return Ok(Err(StepFailure::new(
                    FailureKind::Cancelled,
                    "cancelled between two attempts",
                )));
            }
            let scope = StepScope::new(
                self.run_id.clone(),
                self.options,
                attempt,
                self.cancellation.clone(),
            );
            let failure = match effect.attempt(self.executor, &scope).await {
                Ok(output) => return Ok(Ok(output)),
                Err(failure) => failure,
            };
            let ActivityOptions {
                retry_policy,
                effects,
                step,
                ..
            } = self.options;
            let next = next_delay(retry_policy, *effects, attempt, &failure);
            delay = match next {
                Some(delay) if !self.cancellation.is_cancelled() => delay,
                _ => return Ok(Err(failure)),
            };
            self.log.failed(attempt, &failure, delay).await?;
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
