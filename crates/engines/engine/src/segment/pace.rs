//! When a run continues as new.

use super::SegmentSize;

/// The part of an engine's limit, in percent, from which on a segment gets nothing but its end.
const FULL: u64 = 80;

/// The factor by which a segment has to grow, at least, before it ends.
const GROWTH: u64 = 3;

/// Watches how a segment grows, and decides when it is to end: before it has more than is wanted, as far as the steps so
/// far allow a forecast, and at the latest when it has reached four fifths of its engine's limit.
///
/// It is pure: after the same calls it returns the same.
#[derive(Debug, Clone)]
pub struct Pace {
    wanted: SegmentSize,
    limit: SegmentSize,
    /// The size with which the segment began.
    first: SegmentSize,
    now: SegmentSize,
    /// The largest growth between two looks.
    widest: SegmentSize,
    declined: Option<Declined>,
}

/// A state that was too large to be carried.
#[derive(Debug, Clone, Copy)]
struct Declined {
    state: u64,
    at: SegmentSize,
}

impl Default for Pace {
    /// Returns a pace that never ends a segment.
    fn default() -> Self {
        Self::new(SegmentSize::UNBOUNDED, SegmentSize::UNBOUNDED)
    }
}

impl Pace {
    /// Returns the pace of a segment that is to have no more than `wanted`, on an engine whose limit is `limit`.
    #[must_use]
    pub const fn new(wanted: SegmentSize, limit: SegmentSize) -> Self {
        let nothing = SegmentSize::new(0, 0);
        Self {
            wanted,
            limit,
            first: nothing,
            now: nothing,
            widest: nothing,
            declined: None,
        }
    }

    /// Records the size with which the segment begins.
    pub const fn begin(&mut self, first: SegmentSize) {
        self.first = first;
        self.now = first;
    }

    /// Records the size of the segment between two steps.
    pub fn look(&mut self, now: SegmentSize) {
        self.widest = self.widest.max(now.since(self.now));
        self.now = now;
    }

    /// Returns whether another step like the largest so far, and `closing` at the segment's end, would make the segment
    /// larger than is wanted. A segment that began large may grow to three times its first size, so that a large state is
    /// not carried over at every step.
    #[must_use]
    pub fn is_due(&self, closing: SegmentSize) -> bool {
        let least = SegmentSize::new(0, self.first.bytes.saturating_mul(GROWTH));
        let end = self.now + self.widest + closing;
        end.reaches(self.wanted.max(least))
    }

    /// Returns whether a segment of this size has reached four fifths of its engine's limit.
    #[must_use]
    pub fn is_full(&self, size: SegmentSize) -> bool {
        size.reaches(self.limit.percent(FULL))
    }

    /// Records that the run's state is too large to be carried over: `state` bytes, as far as that is known without looking.
    pub const fn decline(&mut self, state: u64) {
        let at = self.now;
        self.declined = Some(Declined { state, at });
    }

    /// Returns whether carrying over a state of this size need not be tried. A state that was too large is tried again when
    /// it has become smaller, or when the segment has become twice as large.
    #[must_use]
    pub fn is_declined(&self, state: u64) -> bool {
        self.declined.is_some_and(|declined| {
            state >= declined.state && !self.now.reaches(declined.at + declined.at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: SegmentSize = SegmentSize::new(0, 0);

    fn size(entries: u64, bytes: u64) -> SegmentSize {
        SegmentSize::new(entries, bytes)
    }

    fn pace() -> Pace {
        Pace::new(size(100, 1_000), size(1_000, 10_000))
    }

    /// Returns whether the segment is due at each of these sizes.
    fn due(mut pace: Pace, closing: SegmentSize, sizes: &[SegmentSize]) -> Vec<bool> {
        let looks = sizes.iter().map(|now| {
            pace.look(*now);
            pace.is_due(closing)
        });
        looks.collect()
    }

    #[test]
    fn a_segment_ends_before_a_step_like_the_widest_would_make_it_too_large() {
        let by_entries = [20, 40, 60, 80].map(|entries| size(entries, 0));
        assert_eq!(
            due(pace(), size(12, 0), &by_entries),
            [false, false, false, true]
        );
        let by_bytes = [400, 500, 599, 600].map(|bytes| size(0, bytes));
        assert_eq!(due(pace(), NOTHING, &by_bytes), [false, false, false, true]);
        assert_eq!(due(pace(), size(0, 500), &[size(0, 250)]), [true]);
    }

    #[test]
    fn what_a_segment_begins_with_is_no_step_and_may_grow() {
        let mut pace = pace();
        pace.begin(size(0, 900));
        pace.look(size(1, 900));
        assert!(!pace.is_due(size(0, 900)));
        pace.look(size(2, 1_800));
        assert!(pace.is_due(NOTHING));
        assert!(!Pace::default().is_due(size(u64::MAX - 1, 0)));
    }

    #[test]
    fn a_state_that_was_too_large_is_tried_when_it_shrank_or_the_segment_has_doubled() {
        let mut pace = pace();
        assert!(!pace.is_declined(50));
        pace.look(size(90, 500));
        pace.decline(50);
        assert!(pace.is_declined(50));
        assert!(pace.is_declined(60));
        assert!(!pace.is_declined(49));
        pace.look(size(179, 999));
        assert!(pace.is_declined(50));
        pace.look(size(180, 999));
        assert!(!pace.is_declined(50));
    }

    #[test]
    fn a_segment_is_full_at_four_fifths_of_the_limit() {
        let pace = pace();
        assert!(!pace.is_full(size(799, 7_999)));
        assert!(pace.is_full(size(800, 0)));
        assert!(pace.is_full(size(0, 8_000)));
        let odd = Pace::new(NOTHING, size(7, 7));
        assert!(!odd.is_full(size(4, 4)));
        assert!(odd.is_full(size(5, 0)));
        assert!(!Pace::default().is_full(size(u64::MAX / 2, u64::MAX / 2)));
    }
}
