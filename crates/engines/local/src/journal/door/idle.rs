//! How whoever executes a run learns that nothing goes on below it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Counts the looks of a [worker](crate::LocalWorker) at which none of its runs went on, and none had anything to do. Clones
/// share it.
#[derive(Debug, Clone, Default)]
pub struct IdleLooks(Arc<AtomicU64>);

impl IdleLooks {
    /// Returns how many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a look began and ended since this many were counted, at which nothing went on.
    pub(crate) fn is_idle_since(&self, count: u64) -> bool {
        // The first that is counted may have begun before.
        self.count() >= count.saturating_add(2)
    }
}
