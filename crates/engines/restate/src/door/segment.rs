//! What the door and its waits have in common.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::StepLife;
use neuron_types::{Handle, StepId};

use crate::{
    attempts::{
        attempted::Attempted,
        drain::Active,
        registry::{Joined, Manner},
        tasks::Key,
        work::Work,
    },
    door::{
        in_flight::{Followed, InFlight},
        ledger_writer::LedgerWriter,
        steps::Steps,
    },
    wire::entries::AttemptEnd,
};

/// Which attempt is started.
pub(crate) struct Next {
    pub(crate) key: Key,
    /// What those before it came to.
    pub(crate) life: StepLife,
    pub(crate) work: Arc<Work>,
}

/// A segment under way: its steps, its attempts in this worker, what is in flight and what it shows.
pub(crate) struct Segment<'a> {
    pub(crate) steps: Steps<'a>,
    /// Its attempts in this worker.
    pub(crate) attempts: Joined,
    /// The longest that one journaled wait takes.
    pub(crate) pulse: Duration,
    in_flight: Mutex<InFlight>,
    ledger: Mutex<LedgerWriter>,
}

impl<'a> Segment<'a> {
    pub(crate) fn new(
        attempts: Joined,
        steps: Steps<'a>,
        pulse: Duration,
        ledger: LedgerWriter,
    ) -> Self {
        Self {
            steps,
            attempts,
            pulse,
            in_flight: Mutex::default(),
            ledger: Mutex::new(ledger),
        }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, LedgerWriter> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what was emitted readable.
    pub(crate) fn flush(&self) {
        self.ledger().write(self.steps.ctx, &self.steps.meter);
    }

    /// Starts an attempt in this worker.
    pub(crate) fn begin(&self, next: Next, active: Active, is_alone: bool) {
        let Next { key, life, work } = next;
        let worker = self.steps.worker.clone();
        let manner = Manner {
            may_be_dropped: !work.is_write(),
            is_alone,
        };
        self.attempts.begin(key, manner, active, |token| {
            work.attempts(life, worker, token)
        });
    }

    /// Shows no more that this step fails, if it did.
    pub(crate) fn step_over(&self, step: Option<StepId>) {
        if let Some(step) = step {
            self.ledger().step_over(step);
        }
    }

    /// Takes up how an attempt ended, as the journal has it.
    pub(crate) fn attempt_ended(&self, end: AttemptEnd, at: DateTime<Utc>, may_follow: bool) {
        let key = (end.number, end.attempt);
        let step = self.in_flight().step_of(Handle::new(end.number));
        let attempted = Attempted {
            result: end.result,
            made: end.made,
        };
        let followed = self
            .in_flight()
            .attempt_ended(key, attempted, at, may_follow);
        self.attempts.remove(key);
        match followed {
            Some(Followed::Retry(again)) => {
                let notice = &again.notice;
                self.ledger().step_failing(notice.step, again.blocked());
                self.steps.sink.retry(notice);
            }
            Some(Followed::Look(why)) => {
                self.ledger().block(why);
                self.flush();
            }
            None => self.step_over(step),
        }
    }
}
