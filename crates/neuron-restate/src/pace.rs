//! When a run rolls over.

use crate::meter::Size;

const MIB: u64 = 1024 * 1024;

/// How large a journal gets before its run rolls over, where nobody says otherwise.
pub(crate) const DEFAULT: Size = Size {
    entries: 2_000,
    bytes: 8 * MIB,
};

/// How large a journal gets whose run cannot be rolled over. Behind that a replay takes the worker and the
/// server too long and too much.
const MOST: Size = Size {
    entries: 50_000,
    bytes: 64 * MIB,
};

/// What is written when a run rolls over or ends.
const CLOSING: u64 = 12;

/// Watches how a journal grows, from one step to the next.
#[derive(Debug)]
pub(crate) struct Pace {
    every: Size,
    due: Size,
    last: Size,
    /// The most that was added between two looks.
    widest: Size,
}

impl Pace {
    /// Rolls over before a journal is larger than this.
    pub(crate) fn new(every: Size) -> Self {
        Self {
            every,
            due: every,
            last: Size::default(),
            widest: Size::default(),
        }
    }

    /// Whether the next step might make the journal larger than wanted, as far as the steps before it tell, or
    /// it is larger than any may be.
    pub(crate) fn is_due(&mut self, size: Size) -> bool {
        self.widest = Size {
            entries: (self.widest.entries).max(size.entries.saturating_sub(self.last.entries)),
            bytes: (self.widest.bytes).max(size.bytes.saturating_sub(self.last.bytes)),
        };
        self.last = size;
        let next = size + self.widest;
        next.entries.saturating_add(CLOSING) > self.due.entries
            || next.bytes > self.due.bytes
            || self.is_over()
    }

    /// Leaves the run where it is until as much again was journaled.
    pub(crate) fn postpone(&mut self) {
        self.due = self.last + self.every;
    }

    /// Whether the journal can hardly grow any more.
    pub(crate) fn is_over(&self) -> bool {
        self.last.entries > MOST.entries || self.last.bytes > MOST.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(Size {
            entries: 100,
            bytes: 1_000,
        })
    }

    fn size(entries: u64, bytes: u64) -> Size {
        Size { entries, bytes }
    }

    #[test]
    fn a_run_rolls_over_before_a_step_like_the_widest_would_pass_the_limit() {
        let mut by_entries = pace();
        let looks = [20, 40, 60, 80].map(|entries| by_entries.is_due(size(entries, 0)));
        assert_eq!(looks, [false, false, false, true]);
        let mut by_bytes = pace();
        let looks = [400, 500, 600, 601].map(|bytes| by_bytes.is_due(size(0, bytes)));
        assert_eq!(looks, [false, false, false, true]);
    }

    #[test]
    fn what_cannot_be_carried_is_not_tried_at_each_step() {
        let mut pace = pace();
        assert!(!pace.is_due(size(40, 0)));
        assert!(pace.is_due(size(80, 0)));
        pace.postpone();
        assert!(!pace.is_due(size(81, 0)));
        assert!(pace.is_due(size(130, 0)));
        assert!(!pace.is_over());
        pace.due = size(u64::MAX, u64::MAX);
        assert!(!pace.is_due(size(200, MOST.bytes)));
        assert!(pace.is_due(size(200, MOST.bytes + 1)));
        assert!(pace.is_over());
    }
}
