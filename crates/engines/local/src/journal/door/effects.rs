//! Attempts at steps: they are made, and journaled before they count.

use std::{sync::Arc, time::Duration};

use neuron_executor::{EventSink, Executor, StepScope};
use neuron_flow::{
    AttemptKey, Fact, StepLife, StepTerms, Then, cancelled_between, given_up, lost_write,
};
use neuron_types::{
    DurableError, Effect, FailureKind, Outcome, RunNotice, Spent, Step, StepFailure,
};
use tokio_util::sync::CancellationToken;

use crate::{
    flight::running::What,
    journal::{
        door::{flight::Flight, journaled_context::JournaledContext},
        run::core::Core,
        tables::steps::Operation,
    },
};

impl JournaledContext {
    /// Begins the attempts that are to be made and are not in flight. A run that is being put away begins no other
    /// step.
    pub(crate) fn begin(&self, flight: &mut Flight) {
        let (core, executor) = (&self.core, self.executor());
        let is_draining = core.stop.is_draining();
        let flow = core.flow();
        for attempt in flow.attempts() {
            let (key, handle) = (attempt.key, attempt.key.handle);
            let is_signal = attempt.step.effect.is_signal();
            let may_begin = !is_draining || flight.has_begun(handle) || is_signal;
            if !may_begin || flight.running.has(What::Attempt(key)) {
                continue;
            }
            let Some(operation) = flight.operation(handle).cloned() else {
                continue;
            };
            let token = CancellationToken::new();
            if attempt.is_left {
                token.cancel();
            }
            let making = Making {
                core: Arc::clone(core),
                executor: executor.clone(),
                sink: Arc::clone(&self.sink),
                key,
                step: Arc::clone(attempt.step),
                life: attempt.life.clone(),
                notify: match is_signal {
                    // Hooks are notified of what came before together with what follows.
                    true => Vec::new(),
                    false => core.take_unobserved(executor.is_watched()),
                },
                operation,
                token: token.clone(),
                is_lost: flight.begins(handle),
            };
            flight
                .running
                .begin(What::Attempt(key), token, making.make());
        }
    }
}

/// One attempt in flight.
struct Making {
    core: Arc<Core>,
    executor: Executor,
    sink: Arc<dyn EventSink>,
    key: AttemptKey,
    step: Arc<Step>,
    life: StepLife,
    /// The events that the hooks are notified of before the attempt.
    notify: Vec<RunNotice>,
    operation: Arc<Operation>,
    /// Ends it early.
    token: CancellationToken,
    /// Whether it is a write that another process began.
    is_lost: bool,
}

impl Making {
    async fn make(self) -> Result<(), DurableError> {
        let result = self.result().await?;
        let Self {
            core,
            sink,
            key,
            step,
            operation,
            token,
            ..
        } = self;
        if result.is_err() && core.stop.is_interrupted() {
            // It continues when the run is resumed.
            return Err(DurableError::Suspended);
        }
        let step_id = step.options.step;
        // The copy is dropped first: a receiver of the end must not find the step still held here.
        drop(step);
        let handle = key.handle;
        let then = match result {
            // The run stays as it is, for a process that has what the step needs.
            Err(lacking) if lacking.kind == FailureKind::NoWorker && !token.is_cancelled() => {
                return Err(DurableError::engine(lacking));
            }
            result => core.flow().then(key, 1, result, core.clock.now()),
        };
        match then {
            Some(Then::Over(result)) => {
                let written = serde_json::to_string(&result).map_err(DurableError::engine)?;
                let end = Fact::Over { handle, result };
                core.end(operation, end, written, None).await?;
            }
            Some(Then::Again(life, again)) => {
                core.fails(operation, &again).await?;
                core.take_in([Fact::Failing { handle, life }]);
                sink.retry(&again.notice);
            }
            Some(Then::Look(..)) | None => core.step_over(step_id),
        }
        Ok(())
    }

    async fn result(&self) -> Result<Result<Outcome, StepFailure>, DurableError> {
        if self.is_lost {
            return Ok(Err(lost_write()));
        }
        let Step { effect, options } = &*self.step;
        let core = &self.core;
        if effect.is_of_door() {
            return Ok(self.deliver(effect).await);
        }
        if !self.token.is_cancelled() {
            let terms = StepTerms::of(&core.run_id, options);
            let lost = core.losses.of(self.operation.op);
            if let Some(mut failure) = self.life.clone().lost(&terms, lost) {
                // What follows adds what was used before.
                failure.spent = options.held.and_then(|_| Spent::of_lost(lost));
                return Ok(Err(failure));
            }
            let due = self.life.due();
            let delay = due.map_or(Duration::ZERO, |due| core.clock.until(due));
            if delay.is_zero() {
                core.losses.note().await;
            } else if self.is_cancelled_during(delay).await {
                return Ok(Err(cancelled_between()));
            }
            if let Err(failure) = self.notify_hooks().await {
                return Ok(Err(failure));
            }
            self.is_stopped().await;
        }
        if self.token.is_cancelled() {
            return Ok(Err(given_up()));
        }
        if self.step.is_write() {
            core.begin_write(Arc::clone(&self.operation)).await?;
            // The transaction also checked whether the run is to be cancelled.
            self.is_stopped().await;
            if self.token.is_cancelled() {
                return Ok(Err(given_up()));
            }
        }
        let (run_id, token) = (core.run_id.clone(), self.token.clone());
        let scope = StepScope::new(run_id, options, self.life.attempt(), token);
        let lost = core.losses.of(self.operation.op);
        let lost = options.held.and_then(|_| Spent::of_lost(lost));
        let result = self.executor.perform(&scope, effect).await;
        Ok(match result {
            Ok(outcome) => Ok(outcome.with_spent_before(lost)),
            Err(failure) => Err(failure.with_spent(lost)),
        })
    }

    /// Makes a step that no executor makes. A cancelled run sends its end to others, too.
    async fn deliver(&self, effect: &Effect) -> Result<Outcome, StepFailure> {
        let due = self.life.due();
        let delay = due.map_or(Duration::ZERO, |due| self.core.clock.until(due));
        if !delay.is_zero() && self.is_cancelled_during(delay).await {
            return Err(cancelled_between());
        }
        self.notify_hooks().await?;
        self.core.deliver(effect).await
    }

    /// If the run was stopped, waits until this is given up: the waiter finds that the run was stopped, and drops this.
    async fn is_stopped(&self) {
        if self.core.stop.error().is_some() {
            self.token.cancelled().await;
        }
    }

    async fn is_cancelled_during(&self, delay: Duration) -> bool {
        tokio::time::timeout(delay, self.token.cancelled())
            .await
            .is_ok()
    }

    async fn notify_hooks(&self) -> Result<(), StepFailure> {
        if self.notify.is_empty() {
            return Ok(());
        }
        self.core.observe(&self.executor, &self.notify).await
    }
}
