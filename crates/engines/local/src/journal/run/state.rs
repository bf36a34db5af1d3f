//! What a run's executor counts, and has emitted but not written.

use std::time::{Duration, Instant};

use neuron_engine::{Pace, RunClock, RunLedger, SegmentSize};
use neuron_types::RecordedEvent;

use crate::journal::tables::{runs::Shown, segments::Beginning};

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) ops: i64,
    pub(crate) clock: RunClock,
    /// The place of the last entry, or of one that could not be written.
    pub(crate) places: u64,
    /// Where this segment began.
    pub(crate) beginning: Beginning,
    /// What this segment started, polled for, and took as a signal, and the bytes of its results.
    pub(crate) size: SegmentSize,
    pub(crate) pace: Pace,
    /// With the events that are not in the journal yet.
    pub(crate) ledger: RunLedger,
    /// How many events the loop has emitted, those of a replay included.
    pub(crate) emitted: u64,
    /// The number of the last event that the hooks were notified of.
    pub(crate) observed: u64,
    /// The number of the last event that the status in the journal has.
    pub(crate) shown: u64,
    /// The next commit writes the status and `observed`.
    pub(crate) is_status_due: bool,
    /// When it was last looked whether the run is to be cancelled.
    pub(crate) looked_at: Option<Instant>,
}

/// For how long the ends of steps are written without a look whether the run is to be cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How many events the status in the journal may lack. Whoever reads it applies them.
const BEHIND: u64 = 32;

/// What the next commit writes beside the operation that it is made for.
pub(crate) struct Unsaved {
    /// The place of its entry.
    pub(crate) place: u64,
    /// The number of the last event.
    pub(crate) seq: u64,
    pub(crate) events: Vec<RecordedEvent>,
    pub(crate) status: Option<Shown>,
}

impl State {
    pub(crate) fn take_unsaved(&mut self) -> Unsaved {
        self.places += 1;
        let seq = self.ledger.last();
        let is_due = std::mem::take(&mut self.is_status_due) || seq - self.shown >= BEHIND;
        let status = is_due.then(|| {
            self.shown = seq;
            Shown {
                status: self.ledger.status().clone(),
                seq,
                observed: self.observed,
            }
        });
        Unsaved {
            place: self.places,
            seq,
            events: self.ledger.take_events(),
            status,
        }
    }

    /// After a commit that failed: it is written with the next one.
    pub(crate) fn put_back(&mut self, unsaved: Unsaved) {
        self.ledger.put_back_events(unsaved.events);
        self.is_status_due |= unsaved.status.is_some();
    }

    /// Whether it was not looked for a while whether the run is to be cancelled.
    pub(crate) fn is_time_to_look(&self) -> bool {
        self.looked_at
            .is_none_or(|at| at.elapsed() >= BETWEEN_LOOKS)
    }

    /// Where a segment begins that begins now.
    pub(crate) fn next_beginning(&self) -> Beginning {
        Beginning {
            segment: self.beginning.segment + 1,
            op: self.ops,
            seq: self.emitted,
            uuids: self.clock.uuids(),
            now: self.clock.now(),
            place: self.places,
        }
    }
}
