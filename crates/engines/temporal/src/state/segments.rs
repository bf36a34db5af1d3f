//! A worker's settings for its runs.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use neuron_engine::{Pace, SegmentSize};

use crate::wire::heartbeat_timeouts::HeartbeatTimeouts;

/// How many events Temporal takes of one history where its server is not configured otherwise.
pub const HISTORY_LIMIT_EVENTS: usize = 51_200;

/// How many bytes Temporal takes of one history where its server is not configured otherwise.
pub const HISTORY_LIMIT_BYTES: usize = 50 * 1024 * 1024;

/// How many attempts to end a history are remembered.
const REMEMBERED: usize = 1_000;

/// A worker's settings for its runs, long ones most of all.
///
/// They are read only when something happens for the first time. What came of it is recorded in the history,
/// and a replay, by whatever worker, goes by that.
#[derive(Debug)]
pub(crate) struct Segments {
    /// A history is to stay below this.
    pub(crate) wanted: SegmentSize,
    /// What the server takes of one history.
    pub(crate) limit: SegmentSize,
    /// How long a step may be silent whose agent says nothing.
    pub(crate) heartbeats: HeartbeatTimeouts,
    /// The histories that were tried to be ended here. That an end is refused, because a signal came at the
    /// same time, is seen by the history's going on.
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
    /// The pace of a history.
    pub(crate) fn pace(&self) -> Pace {
        Pace::new(self.wanted, self.limit)
    }

    /// The history is about to be ended.
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

    /// Whether the server refused to end this history just now. The answer is given once.
    ///
    /// A refused attempt costs a replay of the whole history, and if it were repeated at once, signals that keep
    /// coming could keep the run from ever going on. So it makes a step first: the next attempt takes next to
    /// no time.
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
