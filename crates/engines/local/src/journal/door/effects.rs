//! Steps: made and journaled, from where the journal has them on.

use std::sync::Arc;

use neuron_engine::{given_up, unknown_effect};
use neuron_executor::{
    AttemptLog, Attempts, EventSink, Executor, FailedAttempt, MOST_LOST, NextAttempt, lost_workers,
    lost_write,
};
use neuron_types::{
    ActivityOptions, Blocked, BlockedKind, DurableError, End, Handle, StepFailure, StepId,
    ToolEffects,
};
use tokio_util::sync::CancellationToken;

use crate::{
    flight::in_flight::Running,
    journal::{
        door::{
            group::{Ready, Unready},
            journaled_context::JournaledContext,
            request::Request,
        },
        run::core::Core,
        store::{
            column::{later, remaining, wall_clock},
            transaction::Transaction,
        },
        tables::{
            recording::Progress,
            steps::{self, Kind, Operation},
        },
    },
};

impl JournaledContext {
    /// Starts a step. It is looked up in the journal by the next wait, and made only if that has no end of it.
    pub(crate) fn start_step<E: Request>(
        &self,
        effect: E,
        options: &ActivityOptions,
        end: fn(Result<E::Output, StepFailure>) -> End,
    ) -> Handle {
        let op = self.next_started();
        let operation = Arc::new(effect.operation(op, options.step));
        let token = CancellationToken::new();
        let is_write = options.effects == ToolEffects::Write;
        if let Some(cancelled_at) = self.core.cancelled_at() {
            let handle = self.flight().start_ended(&operation, is_write);
            let end = end(Err(given_up()));
            self.core.end_at_start(handle, end, cancelled_at);
            return handle;
        }
        let mut flight = self.flight();
        let group = flight.group(&self.core, self.executor());
        if is_write {
            group.join(Arc::clone(&operation), token.clone());
        }
        let step = Step {
            core: Arc::clone(&self.core),
            executor: self.executor().clone(),
            sink: Arc::clone(&self.sink),
            effect,
            options: options.clone(),
            operation: Arc::clone(&operation),
            token: token.clone(),
            ready: group.ready(),
            end,
        };
        let running = Running::effect(Box::pin(step.make()), token, is_write);
        flight.start(operation, self.is_replayed(op), running)
    }
}

impl JournaledContext {
    /// Starts what this door does not know: its end says so.
    pub(crate) fn start_unknown(&self) -> Handle {
        let operation = Arc::new(Operation {
            op: self.next_started(),
            kind: Kind::Tool,
            label: "something unknown".to_owned(),
            fingerprint: "something unknown".to_owned(),
        });
        let (core, of_step) = (Arc::clone(&self.core), Arc::clone(&operation));
        let ended = Box::pin(async move {
            let result = Err(unknown_effect());
            let written = serde_json::to_string(&result).map_err(DurableError::engine)?;
            Ok(core.end(of_step, End::Tool(result), written, None).await?)
        });
        let running = Running::effect(ended, CancellationToken::new(), false);
        let is_replayed = self.is_replayed(operation.op);
        self.flight().start(operation, is_replayed, running)
    }
}

/// One step under way.
struct Step<E: Request> {
    core: Arc<Core>,
    executor: Executor,
    sink: Arc<dyn EventSink>,
    effect: E,
    options: ActivityOptions,
    operation: Arc<Operation>,
    /// Ends it early.
    token: CancellationToken,
    /// Comes when it may be made.
    ready: Ready,
    end: fn(Result<E::Output, StepFailure>) -> End,
}

impl<E: Request> Step<E> {
    async fn make(self) -> Result<(), DurableError> {
        let result = self.result().await?;
        if result.is_err() && self.core.stop.is_interrupted() {
            // It goes on when the run is resumed.
            return Err(DurableError::Suspended);
        }
        let written = serde_json::to_string(&result).map_err(DurableError::engine)?;
        let end = (self.end)(result);
        Ok(self.core.end(self.operation, end, written, None).await?)
    }

    async fn result(&self) -> Result<Result<E::Output, StepFailure>, DurableError> {
        let progress = self.core.known().take_progress(self.operation.handle());
        let next = match progress {
            Some(Progress::Lost) => return Ok(Err(lost_write())),
            Some(Progress::Due {
                attempts,
                since,
                due_at,
                spent,
            }) => NextAttempt {
                attempt: attempts.saturating_add(1),
                delay: due_at.map(remaining).unwrap_or_default(),
                failing_for: Some((wall_clock() - since).to_std().unwrap_or_default()),
                spent,
            },
            _ => NextAttempt::default(),
        };
        if !self.token.is_cancelled() {
            let lost = self.core.losses.of(self.operation.op);
            if lost >= MOST_LOST && self.options.effects != ToolEffects::Write {
                return Ok(Err(lost_workers(lost).with_spent(next.spent)));
            }
            if next.delay.is_zero() {
                self.core.losses.note().await;
            }
            match self.ready.clone().await {
                Ok(()) => {}
                // Whoever waits finds that the run was stopped, and leaves what was started.
                Err(Unready::Stopped) => self.token.cancelled().await,
                Err(Unready::Failed(failure)) => {
                    return Ok(Err(failure.with_spent(next.spent)));
                }
                Err(Unready::Journal(error)) => return Err(DurableError::engine(error)),
            }
        }
        if self.token.is_cancelled() {
            return Ok(Err(given_up().with_spent(next.spent)));
        }
        let attempts = Attempts {
            executor: &self.executor,
            run_id: &self.core.run_id,
            options: &self.options,
            cancellation: &self.token,
            sink: self.sink.as_ref(),
            log: StepLog {
                core: &self.core,
                operation: &self.operation,
                step: self.options.step,
            },
        };
        let made = attempts.make(&self.effect, next).await;
        made.map_err(|error| match error {
            // The run stays as it is, for a process that has what the step needs.
            DurableError::Step(lacking) => DurableError::engine(lacking),
            error => error,
        })
    }
}

/// Journals the failed attempts of a step, and shows that it fails until it is dropped.
struct StepLog<'a> {
    core: &'a Arc<Core>,
    operation: &'a Operation,
    step: StepId,
}

impl AttemptLog for StepLog<'_> {
    async fn failed(&self, failed: FailedAttempt<'_>) -> Result<(), DurableError> {
        let at = wall_clock();
        let due_at = later(at, failed.delay);
        let since = chrono::Duration::from_std(failed.failing_for).ok();
        let since = since.and_then(|since| at.checked_sub_signed(since));
        let blocked = Blocked {
            attempt: Some(failed.attempt),
            next_at: Some(due_at),
            ..Blocked::new(
                BlockedKind::StepFailing,
                since.unwrap_or(at),
                failed.failure.to_string(),
            )
        };
        self.core.step_failing(self.step, blocked);
        let (operation, failure) = (self.operation.clone(), failed.failure.clone());
        let attempt = failed.attempt;
        let keep = move |transaction: &Transaction<'_>, run| {
            let failed = Some((&failure, due_at));
            steps::attempt(transaction, run, &operation, attempt, at, failed)
        };
        Ok(self.core.commit(keep).await?)
    }
}

impl Drop for StepLog<'_> {
    fn drop(&mut self) {
        self.core.step_over(self.step);
    }
}
