//! What a run shows: its status and its events, kept where the shared handlers can read them.

use chrono::TimeDelta;
use neuron_engine::{RunClock, RunLedger};
use neuron_types::{Blocked, RecordedEvent, RunEvent, RunNotice, RunOutput, RunStatus, StepId};
use restate_sdk::endpoint::ContextInternal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    door::record::Record,
    wire::{
        meter::{ASK, CALL, Meter, WRITE},
        pages::{self, Base, Page},
    },
};

/// The longest time before what was emitted is written.
const LATE: TimeDelta = TimeDelta::seconds(1);

/// The run's clock, and its ledger with the events that are not written yet.
///
/// Events are written in pages with the status beside them, so no value grows with the run. The first segment
/// writes them into the workflow's state, later ones into the record.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LedgerWriter {
    pub(crate) clock: RunClock,
    ledger: RunLedger,
    /// Whether the current status was not written yet.
    #[serde(skip)]
    is_new: bool,
    #[serde(skip)]
    record: Option<Record>,
    /// The status that this segment's pages state the changes to.
    #[serde(skip)]
    base: Option<Base>,
}

impl LedgerWriter {
    /// Returns the writer of a run that begins, with the seed of its ids.
    pub(crate) fn new(status: RunStatus, seed: Option<Uuid>) -> Self {
        Self {
            clock: RunClock::new(status.started_at, 0).with_seed(seed),
            ledger: RunLedger::new(status),
            is_new: true,
            record: None,
            base: None,
        }
    }

    /// Makes a later segment write into the record.
    pub(crate) fn on(self, record: Record) -> Self {
        Self {
            record: Some(record),
            ..self
        }
    }

    pub(crate) fn emit(&mut self, event: RunEvent) -> RecordedEvent {
        self.ledger.record(event, self.clock.now())
    }

    /// Returns the run's status.
    pub(crate) fn status(&self) -> &RunStatus {
        self.ledger.status()
    }

    /// Records that no worker has the run's agent, for this reason.
    pub(crate) fn block(&mut self, why: String) {
        self.is_new |= self.ledger.block(why, self.clock.now());
    }

    /// Records that a step fails and is retried.
    pub(crate) fn step_failing(&mut self, step: StepId, blocked: Blocked) {
        self.ledger.step_failing(step, blocked);
        self.is_new = true;
    }

    /// Records that a step ended or was given up.
    pub(crate) fn step_over(&mut self, step: StepId) {
        self.is_new |= self.ledger.step_over(step);
    }

    /// Takes the events that the hooks have not been notified of. A live attempt notifies them, so a replay takes the
    /// events without notifying them.
    pub(crate) fn take_unobserved(&mut self) -> Vec<RunNotice> {
        self.ledger.unobserved_mut().take()
    }

    /// Records that the workflow is over.
    pub(crate) fn end(&mut self, output: &RunOutput) {
        self.is_new |= self.ledger.end(output);
    }

    /// Returns whether there is anything to write.
    pub(crate) fn has_news(&self) -> bool {
        self.is_new || !self.ledger.events().is_empty()
    }

    /// Returns whether some of it has waited for too long.
    pub(crate) fn is_late(&self) -> bool {
        let oldest = self.ledger.events().first();
        oldest.is_some_and(|oldest| self.clock.now() - oldest.at >= LATE)
    }

    /// Writes what is new.
    pub(crate) fn write(&mut self, ctx: &ContextInternal, meter: &Meter) {
        if !self.has_news() {
            return;
        }
        let page = self.take_page();
        match &self.record {
            Some(record) => {
                meter.count(ASK);
                record.append(ctx, page);
            }
            None => {
                meter.count(WRITE);
                pages::write(ctx, page);
            }
        }
    }

    /// Takes what is new and where to write it, for callers that wait until it is written.
    pub(crate) fn take_record(&mut self, meter: &Meter) -> Option<(Record, Page)> {
        let record = self.record.clone()?;
        meter.count(CALL);
        Some((record, self.take_page()))
    }

    fn take_page(&mut self) -> Page {
        self.is_new = false;
        let events = self.ledger.take_events();
        let next = self.ledger.last() + 1;
        Page::new(next, self.ledger.status().clone(), events, &mut self.base)
    }
}
