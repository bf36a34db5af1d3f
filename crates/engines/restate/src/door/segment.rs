//! The state that the door and its waits share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use neuron_flow::{Attempt, Fact, Flow, Shown};
use neuron_types::Handle;

use crate::{
    attempts::{
        drain::Active,
        registry::{Joined, Manner},
        work::Work,
    },
    door::{attachment::Attachment, ledger_writer::LedgerWriter, steps::Steps},
    wire::{end_address::EndAddress, entries::Observation},
};

/// A segment in progress: its steps, its attempts in this worker, what is in flight and what it shows.
pub(crate) struct Segment<'a> {
    pub(crate) steps: Steps<'a>,
    /// Its attempts in this worker.
    pub(crate) attempts: Joined,
    /// The longest duration of one journaled wait.
    pub(crate) pulse: Duration,
    /// The state that is the same in every replay: it only depends on the loop's requests and on the journal, and on
    /// nothing that a live attempt finds out.
    pub(crate) flow: Mutex<Flow>,
    /// Writes whose starts this invocation has journaled, and that have not begun.
    permits: Mutex<BTreeMap<Handle, Active>>,
    /// Whether the invocation is retried, and this attempt has not waited yet.
    pub(crate) is_again: AtomicBool,
    ledger: Mutex<LedgerWriter>,
    /// Whether signals of other runs find the segment's invocation.
    pub(crate) attachment: Attachment<'a>,
    /// Where the run's end is sent, if another run started it and awaits it there.
    pub(crate) end_address: Option<EndAddress>,
}

impl<'a> Segment<'a> {
    pub(crate) fn new(
        attempts: Joined,
        steps: Steps<'a>,
        pulse: Duration,
        ledger: LedgerWriter,
        is_again: bool,
        attachment: Attachment<'a>,
        end_address: Option<EndAddress>,
    ) -> Self {
        Self {
            attempts,
            pulse,
            flow: Mutex::new(Flow::new(steps.run_id.clone())),
            permits: Mutex::default(),
            is_again: is_again.into(),
            steps,
            ledger: Mutex::new(ledger),
            attachment,
            end_address,
        }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, LedgerWriter> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn permits(&self) -> MutexGuard<'_, BTreeMap<Handle, Active>> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what was emitted readable.
    pub(crate) fn flush(&self) {
        self.ledger().write(self.steps.ctx, &self.steps.meter);
    }

    /// Returns the work of a worker for this attempt.
    pub(crate) fn work(&self, attempt: &Attempt<'_>) -> Work {
        Work {
            run_id: self.steps.run_id.clone(),
            agent: Arc::clone(&self.steps.agent),
            step: Arc::clone(attempt.step),
            life: attempt.life.clone(),
            events: attempt.notify.to_vec(),
            key: (attempt.key.handle.number(), attempt.key.number),
        }
    }

    /// Starts an attempt in this worker.
    pub(crate) fn begin(&self, work: Work, active: Active, is_alone: bool) {
        let worker = self.steps.worker.clone();
        let manner = Manner {
            may_be_dropped: !work.step.is_write(),
            is_alone,
        };
        self.attempts.begin(work.key, manner, active, |token| {
            work.attempts(worker, token)
        });
    }

    /// Records what a wait found, as the journal has it.
    pub(crate) fn observed(&self, place: u64, observation: Observation) {
        let Observation { at, ends, lost, .. } = observation;
        for end in &ends {
            self.attempts.remove((end.number, end.attempt));
        }
        let lost = lost.into_iter().map(Handle::new);
        let facts = lost
            .map(|handle| Fact::Lost { handle })
            .chain(ends.into_iter().map(Fact::from));
        let shown = self.flow().take_at(place, at, facts);
        for shown in shown {
            match shown {
                Shown::Failing(again) => {
                    self.ledger()
                        .step_failing(again.notice.step, again.blocked());
                    self.steps.sink.retry(&again.notice);
                }
                Shown::Lacking(_, why) => {
                    self.ledger().block(why);
                    self.flush();
                }
                Shown::Over(step) => self.ledger().step_over(step),
            }
        }
    }
}
