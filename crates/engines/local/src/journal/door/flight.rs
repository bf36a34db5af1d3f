//! What the executor of a journaled run has in flight, and what it has yet to look up.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use neuron_types::{DurableError, Handle};
use tokio::time::Instant;

use crate::{
    flight::running::Running,
    journal::{door::broken::Broken, run::wanted::Taken, tables::steps::Operation},
};

/// What the executor of a journaled run has in flight, and what it has yet to look up.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Attempts. They end by journaling their results.
    pub(crate) running: Running<Result<(), DurableError>>,
    /// What was started, as the journal identifies it.
    operations: BTreeMap<Handle, Arc<Operation>>,
    /// What was started since the last wait, as far as the journal may have it.
    unrecalled: Vec<Arc<Operation>>,
    /// Writes that another process began and that have no end: their outcome is unknown.
    lost: BTreeSet<Handle>,
    /// Steps at which this process has made attempts.
    begun: BTreeSet<Handle>,
    /// When deadlines end by the monotonic clock, which may stand still while the machine sleeps.
    pub(crate) wakes: BTreeMap<Handle, Option<Instant>>,
    /// The number of the current wait or poll.
    pub(crate) asked: i64,
    /// Whether it was looked up.
    pub(crate) is_recalled: bool,
    /// The signal that it took.
    pub(crate) taken: Option<Taken>,
    /// When the signals were last looked up.
    pub(crate) looked_at: Option<Instant>,
    /// Set if the journal is not that of this run, or cannot be read: nothing continues.
    pub(crate) broken: Option<Broken>,
}

impl Flight {
    /// Adds what was started. `is_replayed` is whether the journal may have it.
    pub(crate) fn start(&mut self, operation: Arc<Operation>, is_replayed: bool) {
        if is_replayed {
            self.unrecalled.push(Arc::clone(&operation));
        }
        self.operations.insert(operation.handle(), operation);
    }

    /// Begins the next request of the run.
    pub(crate) fn ask(&mut self, op: i64, is_open: impl Fn(Handle) -> bool) {
        self.asked = op;
        self.is_recalled = false;
        self.operations.retain(|handle, _| is_open(*handle));
        self.wakes.retain(|handle, _| is_open(*handle));
    }

    pub(crate) fn take_unrecalled(&mut self) -> Vec<Arc<Operation>> {
        std::mem::take(&mut self.unrecalled)
    }

    /// Returns what was started under this handle.
    pub(crate) fn operation(&self, handle: Handle) -> Option<&Arc<Operation>> {
        self.operations.get(&handle)
    }

    /// Records that another process began this write.
    pub(crate) fn is_lost(&mut self, handle: Handle) {
        self.lost.insert(handle);
    }

    /// Records that this process makes attempts at the step. Returns whether another process had begun to, and was
    /// lost.
    pub(crate) fn begins(&mut self, handle: Handle) -> bool {
        self.begun.insert(handle);
        self.lost.remove(&handle)
    }

    /// Returns whether this process has made attempts at the step.
    pub(crate) fn has_begun(&self, handle: Handle) -> bool {
        self.begun.contains(&handle)
    }

    /// Returns when the first of these ends.
    pub(crate) fn first_of(&self, timers: impl Iterator<Item = Handle>) -> Option<Instant> {
        timers
            .filter_map(|handle| self.wakes.get(&handle).copied().flatten())
            .min()
    }
}
