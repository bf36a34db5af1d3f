//! What a run shows to clients and hooks.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_types::{Blocked, BlockedKind, RecordedEvent, RunEvent, RunOutput, RunStatus, StepId};
use serde::{Deserialize, Serialize};

use super::Unobserved;

/// Keeps what a run shows: its numbered events, the status that they lead to, and the events that its hooks have not
/// been notified of.
///
/// It is the same for every door. Where and when the events and the status are written is up to the door: it takes
/// the [events](Self::take_events) that it has written, or leaves them where they are read. The serialized form has
/// everything except these events and the steps that fail: it is only carried over while no step is in flight.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunLedger {
    status: RunStatus,
    /// The number of the last event.
    last: u64,
    unobserved: Unobserved,
    #[serde(skip)]
    events: Vec<RecordedEvent>,
    /// Steps in flight that fail and are retried.
    #[serde(skip)]
    failing: BTreeMap<StepId, Blocked>,
}

impl RunLedger {
    /// Returns the ledger of a new run.
    #[must_use]
    pub fn new(status: RunStatus) -> Self {
        Self::resumed(status, 0, Unobserved::default())
    }

    /// Returns the ledger of a run whose last event has the number `last` and led to this status.
    #[must_use]
    pub const fn resumed(status: RunStatus, last: u64, unobserved: Unobserved) -> Self {
        Self {
            status,
            last,
            unobserved,
            events: Vec::new(),
            failing: BTreeMap::new(),
        }
    }

    /// Records an event.
    pub fn record(&mut self, event: RunEvent, at: DateTime<Utc>) -> RecordedEvent {
        // The child may have been started before this process was.
        let child = match &event {
            RunEvent::ChildEnded { run_id, .. } => {
                let mut children = self.status.children.iter();
                children.find(|child| child.run_id == *run_id)
            }
            _ => None,
        };
        let agent = child.map(|child| child.agent.clone());
        self.unobserved.push_of(&event, at, agent);
        self.status.apply(&event, at);
        self.show_failing();
        self.last += 1;
        let seq = self.last;
        let recorded = RecordedEvent { seq, at, event };
        self.events.push(recorded.clone());
        recorded
    }

    /// Records how the run ended. The end is recorded even if the workflow emits none. Returns whether that is news.
    pub fn end(&mut self, output: &RunOutput) -> bool {
        let is_news = output.state.is_final() && !self.status.state.is_final();
        if is_news {
            self.status.state = output.state;
            self.status.error.clone_from(&output.error);
            self.status.approvals.clear();
            self.status.blocked = None;
            self.failing.clear();
        }
        is_news
    }

    /// Records that a step fails and is retried. The status shows the step until it is [over](Self::step_over), unless a
    /// ticket is open. Of several such steps it shows the one that has failed longest.
    pub fn step_failing(&mut self, step: StepId, blocked: Blocked) {
        self.failing.insert(step, blocked);
        self.show_failing();
    }

    /// Records that a step ended or was given up. Returns whether it failed until then.
    pub fn step_over(&mut self, step: StepId) -> bool {
        let did_fail = self.failing.remove(&step).is_some();
        if did_fail {
            let blocked = self.status.blocked.take();
            self.status.blocked = blocked.filter(|it| it.kind != BlockedKind::StepFailing);
            self.show_failing();
        }
        did_fail
    }

    fn show_failing(&mut self) {
        let blocked = self.status.blocked.as_ref();
        let is_ticket = blocked.is_some_and(|blocked| blocked.kind.is_ticket());
        let longest = self.failing.values().min_by_key(|blocked| blocked.since);
        if let Some(longest) = longest
            && !is_ticket
            && !self.status.state.is_final()
        {
            self.status.blocked = Some(longest.clone());
        }
    }

    /// Records that no worker has the run's agent, until the next event. Returns whether that is news.
    pub fn block(&mut self, detail: String, at: DateTime<Utc>) -> bool {
        let before = self.status.blocked.take();
        let before = before.filter(|before| before.kind == BlockedKind::NoWorker);
        let is_news = before.as_ref().is_none_or(|before| before.detail != detail);
        let since = before.map_or(at, |before| before.since);
        self.status.blocked = Some(Blocked::new(BlockedKind::NoWorker, since, detail));
        is_news
    }

    /// Returns the status of the run.
    #[must_use]
    pub const fn status(&self) -> &RunStatus {
        &self.status
    }

    /// Returns the number of the last event; 0 if there is no event.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// Returns the events that were recorded here and that were not taken.
    #[must_use]
    pub fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Returns the events of [`events`](Self::events) behind number `after`.
    #[must_use]
    pub fn events_after(&self, after: u64) -> &[RecordedEvent] {
        let known = self.events.partition_point(|event| event.seq <= after);
        self.events.get(known..).unwrap_or_default()
    }

    /// Takes the events that were recorded here.
    #[must_use]
    pub fn take_events(&mut self) -> Vec<RecordedEvent> {
        std::mem::take(&mut self.events)
    }

    /// Puts back events that were taken and not written, before those that were recorded since.
    pub fn put_back_events(&mut self, taken: Vec<RecordedEvent>) {
        self.events.splice(..0, taken);
    }

    /// Returns the events that the hooks have not been notified of.
    #[must_use]
    pub const fn unobserved(&self) -> &Unobserved {
        &self.unobserved
    }

    /// Returns the same as [`unobserved`](Self::unobserved), to take from it: the caller then has to notify the hooks.
    pub const fn unobserved_mut(&mut self) -> &mut Unobserved {
        &mut self.unobserved
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use neuron_types::{
        Amount, ExitReason, RunError, RunId, RunNotice, RunPhase, RunTags, TokenUsage,
    };

    use super::*;

    const AT: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn ledger() -> RunLedger {
        RunLedger::new(RunStatus::new(RunId::new("r1").unwrap(), "local", "a", AT))
    }

    fn turn(turn: u32) -> RunEvent {
        RunEvent::TurnStarted { turn }
    }

    fn numbers(events: &[RecordedEvent]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn numbers_go_on_whatever_is_taken_written_and_carried() {
        let mut ledger = ledger();
        assert_eq!(ledger.record(turn(1), AT).seq, 1);
        ledger.record(turn(2), AT);
        assert_eq!(numbers(ledger.events_after(1)), [2]);
        let taken = ledger.take_events();
        ledger.record(turn(3), AT);
        assert_eq!(numbers(ledger.events_after(0)), [3]);
        ledger.put_back_events(taken);
        assert_eq!(numbers(ledger.events()), [1, 2, 3]);
        assert_eq!(numbers(ledger.events_after(7)), [] as [u64; 0]);
        let carried = serde_json::to_string(&ledger).unwrap();
        let mut carried: RunLedger = serde_json::from_str(&carried).unwrap();
        assert_eq!((carried.last(), carried.status().turn), (3, 3));
        assert_eq!(numbers(carried.events()), [] as [u64; 0]);
        assert_eq!(carried.record(turn(4), AT).seq, 4);
        assert_eq!(carried.unobserved_mut().take().len(), 4);
    }

    fn told(notices: &[RunNotice]) -> Vec<RunEvent> {
        notices.iter().map(|notice| notice.event.clone()).collect()
    }

    #[test]
    fn what_ends_is_told_with_how_long_it_took_and_whose_it_was() {
        let mut ledger = ledger();
        let at = |seconds| AT + Duration::from_secs(seconds); // When something happened.
        let child = RunId::new("r.1").unwrap();
        let started = RunEvent::ChildStarted {
            turn: 1,
            call_id: "c".into(),
            run_id: child.clone(),
            agent: "b".into(),
            background: true,
        };
        ledger.record(turn(1), at(1));
        ledger.record(started, at(2));
        ledger.record(RunEvent::TurnEnded { turn: 1 }, at(4));
        let ended = RunEvent::ChildEnded {
            run_id: child,
            exit_reason: ExitReason::Complete,
            usage: TokenUsage::default(),
            cost_usd: None,
            reserved: Amount::ZERO,
        };
        ledger.record(ended, at(9));
        let told = ledger.unobserved_mut().take();
        let took: Vec<_> = told
            .iter()
            .map(|notice| (notice.took_ms, notice.in_turn, notice.agent.as_deref()))
            .collect();
        let expected = [
            (None, None, None),
            (None, None, None),
            (Some(3000), None, None),
            (Some(7000), Some(1), Some("b")),
        ];
        assert_eq!(took, expected);
    }

    #[test]
    fn hooks_are_notified_of_what_is_theirs_and_of_no_texts() {
        let mut ledger = ledger();
        let started = |agent: &str, text: &str| RunEvent::RunStarted {
            agent: agent.into(),
            model: text.into(),
            prompt: text.into(),
            definition: text.into(),
            tags: RunTags::default(),
            nonce: None,
            trace: None,
            directory: None,
            signed: false,
        };
        ledger.record(started("a", "long"), AT);
        let text = "long".to_owned();
        ledger.record(RunEvent::MessageReceived { text }, AT);
        ledger.record(turn(1), AT);
        let taken = ledger.unobserved_mut().take();
        assert_eq!(told(&taken), [started("a", ""), turn(1)]);
        ledger.record(turn(2), AT);
        ledger.unobserved_mut().put_back(taken);
        let all = [started("a", ""), turn(1), turn(2)];
        assert_eq!(told(&ledger.unobserved_mut().take()), all);
        assert!(ledger.unobserved().is_empty());
    }

    #[test]
    fn a_run_is_blocked_until_something_happens() {
        let (mut ledger, later) = (ledger(), AT + chrono::Duration::seconds(1)); // Only compared, never waited for.
        assert!(ledger.block("nobody".into(), AT));
        assert!(!ledger.block("nobody".into(), later));
        assert!(ledger.block("still nobody".into(), later));
        let blocked = ledger.status().blocked.clone().unwrap();
        assert_eq!((&*blocked.detail, blocked.since), ("still nobody", AT));
        ledger.record(turn(1), later);
        assert_eq!(ledger.status().blocked, None);
    }

    #[test]
    fn the_step_that_fails_longest_is_shown_until_it_is_over() {
        let (mut ledger, later) = (ledger(), AT + chrono::Duration::seconds(1)); // Only compared, never waited for.
        let failing = |attempt, since| Blocked {
            attempt: Some(attempt),
            ..Blocked::new(BlockedKind::StepFailing, since, "network: away".into())
        };
        let [first, second] = [StepId::new(1, 1), StepId::new(1, 2)];
        ledger.step_failing(second, failing(1, later));
        ledger.step_failing(first, failing(3, AT));
        ledger.record(RunEvent::MessageReceived { text: "x".into() }, later);
        let attempt = |ledger: &RunLedger| ledger.status().blocked.as_ref()?.attempt;
        assert_eq!(attempt(&ledger), Some(3));
        assert!(ledger.step_over(first));
        assert_eq!(attempt(&ledger), Some(1));
        assert!(ledger.step_over(second) && !ledger.step_over(second));
        assert_eq!(ledger.status().blocked, None);
    }

    #[test]
    fn a_workflow_that_emits_no_end_has_one() {
        let mut ledger = ledger();
        let error = RunError {
            kind: neuron_types::FailureKind::Internal,
            message: "gone".into(),
        };
        let failed = RunOutput {
            state: RunPhase::Failed,
            error: Some(error.clone()),
            ..ledger.status().output(Some(ExitReason::Failed))
        };
        assert!(ledger.end(&failed));
        assert_eq!(ledger.status().state, RunPhase::Failed);
        assert_eq!(ledger.status().error, Some(error));
        assert!(!ledger.end(&failed));
    }
}
