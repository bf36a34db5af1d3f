//! Steps: made and journaled, from where the journal has them on.

use std::sync::Arc;

use neuron_executor::{AttemptLog, Attempts, EventSink, Executor};
use neuron_flow::{Again, RetryNotice, StepLife, StepTerms, given_up, lost_write};
use neuron_types::{DurableError, End, Handle, Outcome, Step, StepFailure, StepId};
use tokio_util::sync::CancellationToken;

use crate::{
    flight::in_flight::Running,
    journal::{
        door::{
            group::{Ready, Unready},
            journaled_context::JournaledContext,
            request::operation_of,
        },
        run::core::Core,
        store::{column::wall_clock, transaction::Transaction},
        tables::{
            recording::Progress,
            steps::{self, Operation},
        },
    },
};

impl JournaledContext {
    /// Starts a step. It is looked up in the journal by the next wait, and made only if that has no end of it.
    pub(crate) fn start_step(&self, step: Step) -> Handle {
        let op = self.next_started();
        let operation = Arc::new(operation_of(op, &step));
        let token = CancellationToken::new();
        let is_write = step.is_write();
        if let Some(cancelled_at) = self.core.cancelled_at() {
            let handle = self.flight().start_ended(&operation, is_write);
            let end = End::Effect(Err(given_up()));
            self.core.end_at_start(handle, end, cancelled_at);
            return handle;
        }
        let mut flight = self.flight();
        let group = flight.group(&self.core, self.executor());
        if is_write {
            group.join(Arc::clone(&operation), token.clone());
        }
        let attempts = StepAttempts {
            core: Arc::clone(&self.core),
            executor: self.executor().clone(),
            sink: Arc::clone(&self.sink),
            step,
            operation: Arc::clone(&operation),
            token: token.clone(),
            ready: group.ready(),
        };
        let running = Running::effect(Box::pin(attempts.make()), token, is_write);
        flight.start(operation, self.is_replayed(op), running)
    }
}

/// One step under way.
struct StepAttempts {
    core: Arc<Core>,
    executor: Executor,
    sink: Arc<dyn EventSink>,
    step: Step,
    operation: Arc<Operation>,
    /// Ends it early.
    token: CancellationToken,
    /// Comes when it may be made.
    ready: Ready,
}

impl StepAttempts {
    async fn make(self) -> Result<(), DurableError> {
        let result = self.result().await?;
        if result.is_err() && self.core.stop.is_interrupted() {
            // It goes on when the run is resumed.
            return Err(DurableError::Suspended);
        }
        let written = serde_json::to_string(&result).map_err(DurableError::engine)?;
        let end = End::Effect(result);
        Ok(self.core.end(self.operation, end, written, None).await?)
    }

    async fn result(&self) -> Result<Result<Outcome, StepFailure>, DurableError> {
        let progress = self.core.known().take_progress(self.operation.handle());
        let life = match progress {
            Some(Progress::Lost) => return Ok(Err(lost_write())),
            Some(Progress::Failing(life)) => life,
            _ => StepLife::default(),
        };
        if !self.token.is_cancelled() {
            let lost = self.core.losses.of(self.operation.op);
            let terms = StepTerms::of(&self.core.run_id, &self.step.options);
            if let Some(failure) = life.lost(&terms, lost) {
                return Ok(Err(failure));
            }
            if life.is_due(wall_clock()) {
                self.core.losses.note().await;
            }
            match self.ready.clone().await {
                Ok(()) => {}
                // Whoever waits finds that the run was stopped, and leaves what was started.
                Err(Unready::Stopped) => self.token.cancelled().await,
                Err(Unready::Failed(failure)) => {
                    return Ok(Err(life.ends_with(failure)));
                }
                Err(Unready::Journal(error)) => return Err(DurableError::engine(error)),
            }
        }
        if self.token.is_cancelled() {
            return Ok(Err(life.ends_with(given_up())));
        }
        let attempts = Attempts {
            executor: &self.executor,
            run_id: &self.core.run_id,
            step: &self.step,
            cancellation: &self.token,
            sink: self.sink.as_ref(),
            log: StepLog {
                core: &self.core,
                operation: &self.operation,
                step: self.step.options.step,
            },
        };
        let made = attempts.make(life).await;
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
    async fn failed(&self, again: &Again) -> Result<(), DurableError> {
        self.core.step_failing(self.step, again.blocked());
        let (operation, due_at) = (self.operation.clone(), again.due);
        let RetryNotice {
            attempt, failure, ..
        } = again.notice.clone();
        let at = wall_clock();
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
