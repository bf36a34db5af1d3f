//! What the journal holds of what a run has in flight.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use neuron_types::{End, Handle};

use crate::{flight::ends::Ends, journal::tables::recording::Progress};

/// What the journal holds of what is in flight.
///
/// Ends come in while the connection is held, so their order is that of their transactions.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Ends that nobody has observed.
    pub(crate) ends: Ends<Ended>,
    /// How far steps had come when they were looked up that have no result.
    progress: BTreeMap<Handle, Progress>,
    /// Given up where they were: no end of theirs is kept.
    dropped: BTreeSet<Handle>,
}

/// An end that is journaled.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) at: DateTime<Utc>,
    /// The size of its result.
    pub(crate) bytes: usize,
}

impl Known {
    pub(crate) fn put_end(&mut self, place: u64, handle: Handle, ended: Ended) {
        if !self.is_dropped(handle) {
            self.ends.put(place, handle, ended);
        }
    }

    pub(crate) fn put_progress(&mut self, handle: Handle, progress: Progress) {
        self.progress.insert(handle, progress);
    }

    pub(crate) fn take_progress(&mut self, handle: Handle) -> Option<Progress> {
        self.progress.remove(&handle)
    }

    pub(crate) fn drop_end(&mut self, of: Handle) {
        self.ends.drop_end(of);
        self.dropped.insert(of);
    }

    pub(crate) fn is_dropped(&self, handle: Handle) -> bool {
        self.dropped.contains(&handle)
    }
}
