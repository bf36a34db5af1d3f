//! A worker's settings for its runs.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use neuron_engine::{Pace, SegmentSize};

use crate::wire::heartbeat_timeouts::HeartbeatTimeouts;

/// The most events that Temporal takes in one history, unless its server is configured otherwise.
pub const HISTORY_LIMIT_EVENTS: usize = 51_200;

/// The most bytes that Temporal takes in one history, unless its server is configured otherwise.
pub const HISTORY_LIMIT_BYTES: usize = 50 * 1024 * 1024;

/// The most attempts to end a history that are remembered.
const REMEMBERED: usize = 1_000;

/// A worker's settings for its runs, mainly for long ones.
///
/// They are read only when something happens for the first time. The result is recorded in the history, and a replay,
/// by whatever worker, follows the record.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The size that a history is to stay below.
    pub(crate) wanted: SegmentSize,
    /// The size that the server takes in one history.
    pub(crate) limit: SegmentSize,
    /// The heartbeat timeouts of steps whose agent sets none.
    pub(crate) heartbeats: HeartbeatTimeouts,
    /// The histories that this worker tried to end. If the end is rejected, because a signal arrived at the same time,
    /// the history continues.
    attempted: Mutex<VecDeque<String>>,
}

impl Default for Segments {
    fn default() -> Self {
        Self {
            wanted: SegmentSize::UNBOUNDED,
            limit: SegmentSize::new(HISTORY_LIMIT_EVENTS as u64, HISTORY_LIMIT_BYTES as u64),
            heartbeats: HeartbeatTimeouts::default(),
            attempted: Mutex::default(),
        }
    }
}

impl Segments {
    /// Returns the pace of a history.
    pub(crate) fn pace(&self) -> Pace {
        Pace::new(self.wanted, self.limit)
    }

    /// Records that the history is about to be ended.
    pub(crate) fn attempt(&self, history: &str) {
        let mut attempted = self
            .attempted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if attempted.len() >= REMEMBERED {
            attempted.pop_front();
        }
        attempted.push_back(history.to_owned());
    }

    /// Returns whether the server just rejected the end of this history. The answer is given once.
    ///
    /// A rejected attempt costs a replay of the whole history. If it were repeated at once, signals that keep coming
    /// could block the run for ever. So the run makes a step first: the next attempt takes next to no time.
    pub(crate) fn was_refused(&self, history: &str) -> bool {
        let mut attempted = self
            .attempted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = attempted.iter().position(|tried| tried == history);
        found.is_some_and(|index| attempted.remove(index).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_attempt_is_reported_once() {
        let settings = Segments::default();
        assert!(!settings.was_refused("h"));
        settings.attempt("h");
        assert!(settings.was_refused("h"));
        assert!(!settings.was_refused("h"));
    }
}
