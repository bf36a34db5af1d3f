//! The size of a segment.

use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The size of a segment of a run, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSize {
    /// Events of its history, or whatever else its engine counts.
    pub entries: u64,
    /// Bytes, as its engine counts them.
    pub bytes: u64,
}

impl SegmentSize {
    /// A size larger than any segment.
    pub const UNBOUNDED: Self = Self::new(u64::MAX, u64::MAX);

    /// Returns the size of so many entries and bytes.
    #[must_use]
    pub const fn new(entries: u64, bytes: u64) -> Self {
        Self { entries, bytes }
    }

    /// Returns whether this size is at least `limit` in entries or in bytes.
    #[must_use]
    pub const fn reaches(self, limit: Self) -> bool {
        self.entries >= limit.entries || self.bytes >= limit.bytes
    }

    /// Returns how much larger this size is than `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self::new(
            self.entries.saturating_sub(before.entries),
            self.bytes.saturating_sub(before.bytes),
        )
    }

    /// Returns the larger value of both sizes, in entries and in bytes.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self::new(self.entries.max(other.entries), self.bytes.max(other.bytes))
    }

    /// Returns this percentage of the size.
    #[must_use]
    pub const fn percent(self, part: u64) -> Self {
        const fn of(whole: u64, part: u64) -> u64 {
            whole / 100 * part + whole % 100 * part / 100
        }
        Self::new(of(self.entries, part), of(self.bytes, part))
    }
}

impl Add for SegmentSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(
            self.entries.saturating_add(other.entries),
            self.bytes.saturating_add(other.bytes),
        )
    }
}
