//! What a worker remembers of the runs that it does not execute.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use neuron_types::RunId;

use crate::journal::tables::open_runs::OpenRun;

/// The state of a run when it was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its last entry.
    pub(crate) last_entry: i64,
    /// The last signal that it had the chance to take.
    pub(crate) last_signal: i64,
    /// When it is looked at again, whatever happens.
    pub(crate) look_at: Option<DateTime<Utc>>,
}

impl Mark {
    /// Returns whether something arrived since.
    fn is_past(&self, found: &OpenRun, now: DateTime<Utc>) -> bool {
        found.last_entry != self.last_entry
            || found.last_signal > self.last_signal
            || self.look_at.is_some_and(|at| at <= now)
    }
}

/// The runs that are not over and that this worker does not execute.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    marks: BTreeMap<RunId, Mark>,
    /// The last reported reason why a run does not continue here.
    said: BTreeMap<RunId, String>,
}

impl Memory {
    /// Returns whether there is something to do for a run.
    pub(crate) fn is_due(&self, found: &OpenRun, now: DateTime<Utc>) -> bool {
        let mark = self.marks.get(&found.run_id);
        mark.is_none_or(|mark| mark.is_past(found, now))
    }

    /// Remembers how a run was left.
    pub(crate) fn leave(&mut self, run_id: RunId, mark: Mark) {
        self.marks.insert(run_id, mark);
    }

    /// Returns whether this reason was not reported of the run before. It counts as reported from now on.
    pub(crate) fn is_news(&mut self, run_id: &RunId, reason: &str) -> bool {
        let before = self.said.insert(run_id.clone(), reason.to_owned());
        before.is_none_or(|before| before != reason)
    }

    /// Forgets the reported reason of a run, because the run continues.
    pub(crate) fn goes_on(&mut self, run_id: &RunId) {
        self.said.remove(run_id);
    }

    /// Forgets the runs that are not among these.
    pub(crate) fn keep(&mut self, open: &BTreeSet<&RunId>) {
        self.marks.retain(|run_id, _| open.contains(run_id));
        self.said.retain(|run_id, _| open.contains(run_id));
    }

    /// Returns when the next run is looked at again in any case, after this time: runs whose time has come are due.
    pub(crate) fn look_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let times = self.marks.values().filter_map(|mark| mark.look_at);
        times.filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn found(last_entry: i64, last_signal: i64) -> OpenRun {
        OpenRun {
            run_id: RunId::new("r").unwrap(),
            last_entry,
            last_signal,
        }
    }

    #[test]
    fn a_run_that_was_left_is_due_when_something_came() {
        let now = Utc::now();
        let mut memory = Memory::default();
        assert!(memory.is_due(&found(0, 0), now), "nobody knows it");
        let mark = Mark {
            last_entry: 5,
            last_signal: 3,
            look_at: Some(now + TimeDelta::seconds(1)), // Only compared, never waited for.
        };
        memory.leave(RunId::new("r").unwrap(), mark);
        assert!(!memory.is_due(&found(5, 3), now));
        assert!(!memory.is_due(&found(5, 0), now), "it took the signal");
        assert!(memory.is_due(&found(5, 4), now), "a signal came");
        assert!(memory.is_due(&found(6, 3), now), "another process had it");
        let later = now + TimeDelta::seconds(1); // Only compared, never waited for.
        assert!(memory.is_due(&found(5, 3), later), "its time has come");
        assert_eq!(memory.look_at(now), mark.look_at);
        assert_eq!(memory.look_at(later), None);
        memory.keep(&BTreeSet::new());
        assert!(memory.is_due(&found(5, 3), now));
    }

    #[test]
    fn a_reason_is_news_once() {
        let run_id = RunId::new("r").unwrap();
        let mut memory = Memory::default();
        assert!(memory.is_news(&run_id, "no agent"));
        assert!(!memory.is_news(&run_id, "no agent"));
        assert!(memory.is_news(&run_id, "no key"));
        memory.goes_on(&run_id);
        assert!(memory.is_news(&run_id, "no key"));
    }
}
