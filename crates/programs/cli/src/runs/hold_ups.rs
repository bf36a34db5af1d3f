//! The reasons why a followed run does not continue, in words.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use neuron_types::{Blocked, BlockedKind, RunStatus};

use crate::terminal::{describe, shown};

/// How long a reason lasts before it is mentioned: a worker that restarts is no news.
const MOMENT: Duration = Duration::from_secs(3);

/// The reasons that have held a run up since it is followed.
#[derive(Debug, Default)]
pub(crate) struct HoldUps {
    /// The current reason, and when it was first seen.
    now: Option<(Reason, Instant)>,
    /// The reasons that were mentioned.
    mentioned: Vec<Reason>,
}

/// The identity of a reason: a step that keeps failing is one, whatever its newest attempt reports.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    kind: BlockedKind,
    since: DateTime<Utc>,
}

impl HoldUps {
    /// Returns the reason that holds the run up, if it has done so for a moment and was not mentioned yet.
    pub(crate) fn new_one(&mut self, status: &RunStatus) -> Option<String> {
        let blocked = status.blocked.as_ref();
        // Tickets have lines of their own, and so has a run that no process executes.
        let blocked = blocked
            .filter(|blocked| !blocked.kind.is_ticket() && blocked.kind != BlockedKind::NoProcess);
        let Some(blocked) = blocked else {
            self.now = None;
            return None;
        };
        let reason = Reason {
            kind: blocked.kind,
            since: blocked.since,
        };
        let seen = match &self.now {
            Some((now, seen)) if *now == reason => *seen,
            _ => Instant::now(),
        };
        self.now = Some((reason.clone(), seen));
        if seen.elapsed() < MOMENT || self.mentioned.contains(&reason) {
            return None;
        }
        self.mentioned.push(reason);
        Some(sentence(blocked))
    }
}

fn sentence(blocked: &Blocked) -> String {
    let what = match blocked.kind {
        BlockedKind::NoWorker => "the run waits for a worker that has its agent",
        BlockedKind::WorkerUnreachable => "the run waits for its worker",
        BlockedKind::StepFailing => "a step of the run fails and is tried again",
        BlockedKind::Input => "the run waits for a message",
        _ => "the run does not continue",
    };
    let detail = shown::line(&blocked.detail);
    let next = blocked
        .next_at
        .map(|at| format!(" (next attempt {})", describe::time(at)));
    format!("{what}: {detail}{}", next.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use neuron_types::RunId;

    use super::*;

    fn held_up(kind: BlockedKind, since: i64) -> RunStatus {
        let at = DateTime::from_timestamp(since, 0).unwrap();
        let mut status = RunStatus::new(RunId::new("r1").unwrap(), "temporal", "default", at);
        status.blocked = Some(Blocked::new(kind, at, "no worker polls \"typo\"".into()));
        status
    }

    /// Moves the current reason into the past.
    fn later(hold_ups: &mut HoldUps) {
        if let Some((_, seen)) = &mut hold_ups.now {
            *seen -= MOMENT;
        }
    }

    #[test]
    fn a_reason_is_mentioned_once_when_it_has_lasted_for_a_moment() {
        let mut hold_ups = HoldUps::default();
        let no_worker = held_up(BlockedKind::NoWorker, 1);
        assert_eq!(hold_ups.new_one(&no_worker), None);
        later(&mut hold_ups);
        let said = hold_ups.new_one(&no_worker).unwrap();
        assert!(said.ends_with("no worker polls \"typo\""), "{said}");
        assert_eq!(hold_ups.new_one(&no_worker), None);

        let failing = held_up(BlockedKind::StepFailing, 2);
        assert_eq!(hold_ups.new_one(&failing), None);
        later(&mut hold_ups);
        assert!(hold_ups.new_one(&failing).is_some());
        assert_eq!(hold_ups.new_one(&no_worker), None);
    }

    #[test]
    fn what_has_lines_of_its_own_is_not_mentioned() {
        let mut hold_ups = HoldUps::default();
        for kind in [BlockedKind::Call, BlockedKind::NoProcess] {
            assert_eq!(hold_ups.new_one(&held_up(kind, 1)), None);
            later(&mut hold_ups);
            assert_eq!(hold_ups.new_one(&held_up(kind, 1)), None);
        }
    }
}
