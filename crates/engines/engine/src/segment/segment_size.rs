//! How much a segment holds.

use std::ops::Add;

use serde::{Deserialize, Serialize};

/// How much stands in one segment of a run, or in a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentSize {
    /// Events of its history, or whatever else its engine counts.
    pub entries: u64,
    /// Bytes, as its engine counts them.
    pub bytes: u64,
}

impl SegmentSize {
    /// More than any segment has.
    pub const UNBOUNDED: Self = Self::new(u64::MAX, u64::MAX);

    /// Returns the size of so many entries and bytes.
    #[must_use]
    pub const fn new(entries: u64, bytes: u64) -> Self {
        Self { entries, bytes }
    }

    /// Whether it has as much as `limit` in entries or in bytes.
    #[must_use]
    pub const fn reaches(self, limit: Self) -> bool {
        self.entries >= limit.entries || self.bytes >= limit.bytes
    }

    /// Returns what it has more than `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self::new(
            self.entries.saturating_sub(before.entries),
            self.bytes.saturating_sub(before.bytes),
        )
    }

    /// Returns the larger of both, in entries and in bytes.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self::new(self.entries.max(other.entries), self.bytes.max(other.bytes))
    }

    /// Returns so many percent of it.
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
