//! What a run's executor counts, and has told but not written.

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunStatus};

use super::chapters::{Beginning, Longest};

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) ops: i64,
    pub(crate) uuids: u64,
    pub(crate) now: DateTime<Utc>,
    /// Where this chapter began.
    pub(crate) beginning: Beginning,
    /// The size of this chapter's results.
    pub(crate) bytes: u64,
    pub(crate) status: RunStatus,
    /// How many events the loop has told, those of a replay included.
    pub(crate) emitted: u64,
    /// Events that are not in the journal yet.
    pub(crate) pending: Vec<RecordedEvent>,
    /// Events that the hooks have not been told yet.
    pub(crate) unobserved: Vec<RunEvent>,
    /// The number of the last event that the hooks were told.
    pub(crate) observed: u64,
    /// `status` or `observed` is not in the journal yet.
    pub(crate) is_dirty: bool,
}

/// What the next commit writes beside the operation that it is made for.
pub(crate) struct Unsaved {
    pub(crate) events: Vec<RecordedEvent>,
    pub(crate) status: Option<(RunStatus, u64)>,
}

impl State {
    pub(crate) fn take_unsaved(&mut self) -> Unsaved {
        let is_dirty = std::mem::take(&mut self.is_dirty);
        Unsaved {
            events: std::mem::take(&mut self.pending),
            status: is_dirty.then(|| (self.status.clone(), self.observed)),
        }
    }

    /// After a commit that failed: it is written with the next one.
    pub(crate) fn put_back(&mut self, unsaved: Unsaved) {
        let newer = std::mem::replace(&mut self.pending, unsaved.events);
        self.pending.extend(newer);
        self.is_dirty |= unsaved.status.is_some();
    }

    pub(crate) fn is_past(&self, longest: Longest) -> bool {
        let operations = (self.ops - self.beginning.op).unsigned_abs();
        operations >= longest.operations || self.bytes >= longest.bytes
    }

    /// Where a chapter begins that begins now.
    pub(crate) fn next_beginning(&self) -> Beginning {
        Beginning {
            chapter: self.beginning.chapter + 1,
            op: self.ops,
            seq: self.emitted,
            uuids: self.uuids,
            now: self.now,
        }
    }
}
