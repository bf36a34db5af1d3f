//! What a run's executor counts, and what it has emitted but not written.

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
    /// The number of operations that this segment started, polled for, and took as a signal, and the bytes of its
    /// results.
    pub(crate) size: SegmentSize,
    pub(crate) pace: Pace,
    /// The ledger, with the events that are not in the journal yet.
    pub(crate) ledger: RunLedger,
    /// The number of events that the loop has emitted, including those of a replay.
    pub(crate) emitted: u64,
    /// The number of the last event that the hooks were notified of.
    pub(crate) observed: u64,
    /// The number of the last event that the status in the journal has.
    pub(crate) shown: u64,
    /// Whether the next commit writes the status and `observed`.
    pub(crate) is_status_due: bool,
    /// When the executor last checked whether the run is to be cancelled.
    pub(crate) looked_at: Option<Instant>,
}

/// For how long the ends of steps are written without a check whether the run is to be cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How many events the status in the journal may lack. Readers of the status apply them.
const BEHIND: u64 = 32;

/// What the next commit writes besides the operation that it is made for.
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

    /// Puts back what a failed commit was to write: the next one writes it.
    pub(crate) fn put_back(&mut self, unsaved: Unsaved) {
        self.ledger.put_back_events(unsaved.events);
        self.is_status_due |= unsaved.status.is_some();
    }

    /// Returns whether it is time to check again whether the run is to be cancelled.
    pub(crate) fn is_time_to_look(&self) -> bool {
        self.looked_at
            .is_none_or(|at| at.elapsed() >= BETWEEN_LOOKS)
    }

    /// Returns the beginning of a segment that begins now.
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
