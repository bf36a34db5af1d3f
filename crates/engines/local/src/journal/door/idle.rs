//! How the executor of a run learns that nothing continues below it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Counts the looks of a [worker](crate::LocalWorker) at which none of its runs was in progress, and none had anything
/// to do. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct IdleLooks(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    looks: AtomicU64,
    /// The number of guards that keep the runs from being idle.
    busy: AtomicU64,
    /// The number of looks when the last guard was dropped.
    busy_until: AtomicU64,
}

/// A guard of work for the runs that no look sees, such as asking a person about them: they are not idle until it is
/// dropped.
#[derive(Debug)]
#[must_use]
pub struct Busy(IdleLooks);

impl Drop for Busy {
    fn drop(&mut self) {
        let Counts {
            busy, busy_until, ..
        } = &*self.0.0;
        // In this order: a look that began before has not seen the result of the work.
        busy_until.fetch_max(self.0.count(), Ordering::SeqCst);
        busy.fetch_sub(1, Ordering::SeqCst);
    }
}

impl IdleLooks {
    /// Returns the number of these looks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.looks.load(Ordering::SeqCst)
    }

    /// Keeps the runs from being idle until the returned guard is dropped.
    pub fn busy(&self) -> Busy {
        self.0.busy.fetch_add(1, Ordering::SeqCst);
        Busy(self.clone())
    }

    pub(crate) fn add(&self) {
        self.0.looks.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns whether there is no guard, and a look began and ended after this count at which nothing continued.
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
