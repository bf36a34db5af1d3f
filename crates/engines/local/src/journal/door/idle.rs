//! How whoever executes a run learns that nothing goes on below it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Counts the looks of a [worker](crate::LocalWorker) at which none of its runs went on, and none had anything to do. Clones
/// share it.
#[derive(Debug, Clone, Default)]
pub struct IdleLooks(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    looks: AtomicU64,
    /// How many keep the runs from being idle.
    busy: AtomicU64,
    /// The number of looks when the last of them ended.
    busy_until: AtomicU64,
}

/// Somebody who is at work for the runs, as one who asks a person about them: they are not idle while this is there.
#[derive(Debug)]
#[must_use]
pub struct Busy(IdleLooks);

impl Drop for Busy {
    fn drop(&mut self) {
        let Counts {
            busy, busy_until, ..
        } = &*self.0.0;
        // In this order: a look that began before has not seen what was done.
        busy_until.fetch_max(self.0.count(), Ordering::SeqCst);
        busy.fetch_sub(1, Ordering::SeqCst);
    }
}

impl IdleLooks {
    /// Returns how many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.looks.load(Ordering::SeqCst)
    }

    /// Says that somebody is at work for the runs, as long as what is returned is there.
    pub fn busy(&self) -> Busy {
        self.0.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self.clone())
    }

    pub(crate) fn add(&self) {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether a look began and ended since this many were counted, at which nothing went on, and nobody is at work.
    pub(crate) fn is_idle_since(&self, count: u64) -> bool {
        let is_busy = self.0.busy.load(Ordering::SeqCst) > 0;
        let since = count.max(self.0.busy_until.load(Ordering::SeqCst));
        // The first that is counted may have begun before.
        !is_busy && self.count() >= since.saturating_add(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_idle_while_somebody_is_at_work_nor_before_two_looks_behind_that() {
        let looks = IdleLooks::default();
        let (one, two) = (looks.busy(), looks.busy());
        looks.add();
        looks.add();
        assert!(!looks.is_idle_since(0));
        drop(one);
        looks.add();
        assert!(!looks.is_idle_since(0));
        drop(two);
        looks.add();
        assert!(!looks.is_idle_since(0), "it may have begun before");
        looks.add();
        assert!(looks.is_idle_since(0));
    }
}
