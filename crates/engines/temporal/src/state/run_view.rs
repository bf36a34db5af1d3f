//! What a run shows and what has reached it: the workflow's state beside the loop.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt::Write as _,
};

use chrono::{DateTime, Utc};
use neuron_engine::{Pace, RunLedger};
use neuron_types::{
    CompletionRequest, Decision, RecordedEvent, Refusal, RunEvent, RunId, RunNotice, RunOutput,
    RunPhase, RunState, RunStatus, Signal, json_bytes, signal,
};
use serde_json::Value;
use temporalio_common::search_attributes::{SearchAttributeError, SearchAttributeUpdate};
use temporalio_sdk::WorkflowCancellationToken;

use crate::{
    conversation::{
        delta_encoder::DeltaEncoder,
        known_results::{KnownResults, NAMED},
    },
    state::{fill::Fill, search_attributes::Shown},
    wire::{
        activity_inputs::Delta,
        history_input::{Carried, HistoryInput, Opening},
        pages::{EventsPage, MessagesPage},
    },
};

/// The most tickets and decisions of earlier histories whose results are kept.
const KNOWN_BEFORE: usize = 256;

/// The state of one run that its queries show and its signals change.
#[derive(Debug, Default)]
pub(crate) struct RunView {
    /// Signals that were not taken yet, in the order of arrival.
    signals: VecDeque<Signal>,
    /// Decisions that were verified and queued, and that the run has not answered, by their tickets' ids.
    deciding: BTreeMap<String, BTreeSet<String>>,
    /// The results of tickets in earlier histories.
    settled: Vec<RecordedEvent>,
    /// The ledger with all events of this history; `None` before it begins.
    ledger: Option<RunLedger>,
    /// The conversation as the model activities know it.
    pub(crate) encoder: DeltaEncoder,
    /// The tool results that this history has.
    pub(crate) results: KnownResults,
    /// The size from which on the next model call names tool results; [`NAMED`] if `None`.
    pub(crate) named_from: Option<usize>,
    /// Cancelled when the run is.
    pub(crate) stop: WorkflowCancellationToken,
    pub(crate) fill: Fill,
    pub(crate) shown: Shown,
    /// The bytes that local calls wrote since the server last answered.
    pub(crate) local_bytes: usize,
    /// The length of the history when an update was last taken. It is answered when the workflow waits.
    pub(crate) updated_at: Option<u32>,
    /// The ids of the updates that carried decisions; the first `decided_before` arrived in earlier histories.
    decided: Vec<String>,
    decided_before: usize,
    /// The newest decisions that the run rejected, in earlier histories and this one, by their ids, with the reasons.
    rejected: VecDeque<(String, String)>,
    /// Temporal's id of the history before this one.
    previous: Option<String>,
    /// The loop has waited for something: all tickets are open that it opens in the beginning.
    has_begun: Cell<bool>,
    /// How many decisions wait for that.
    early: u32,
    /// The state that the next history begins with, if this one is left.
    pub(crate) left: Option<Carried>,
}

impl RunView {
    /// Returns the view of a history of this pace.
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            fill: Fill::new(pace),
            ..Self::default()
        }
    }

    /// Adds a request and states what is new in it, in parts if it is large.
    pub(crate) fn state(
        &mut self,
        request: &CompletionRequest,
    ) -> Result<Vec<Delta>, serde_json::Error> {
        let least = self.named_from.unwrap_or(NAMED);
        self.encoder.next(request, &self.results, least)
    }

    /// Starts the run.
    pub(crate) fn start(&mut self, status: RunStatus) {
        self.ledger = Some(RunLedger::new(status));
    }

    /// Begins the history: the run's first, or one that continues where another was left.
    pub(crate) fn open(
        &mut self,
        run_id: RunId,
        engine: &str,
        input: &mut HistoryInput,
        now: DateTime<Utc>,
    ) -> Result<(), serde_json::Error> {
        self.fill.begin(json_bytes(input)?);
        match &mut input.0 {
            Opening::New(request) => {
                let status = RunStatus::new(run_id, engine, request.agent.name(), now);
                self.start(status.with_tags(&request.tags));
            }
            Opening::Wrong(_) | Opening::Unknown(_) => {}
            Opening::Continued { continued } => {
                self.encoder.begin(&continued.state.conversation)?;
                self.ledger = Some(RunLedger::resumed(
                    continued.status.clone(),
                    continued.next_event.saturating_sub(1),
                    std::mem::take(&mut continued.unobserved),
                ));
                self.settled = std::mem::take(&mut continued.settled);
                self.decided = std::mem::take(&mut continued.decided);
                self.decided_before = self.decided.len();
                self.rejected = std::mem::take(&mut continued.rejected).into();
                self.previous = Some(std::mem::take(&mut continued.previous));
                // Signals of this history may be queued already: they came later.
                let later = std::mem::take(&mut self.signals);
                for (name, queue) in std::mem::take(&mut continued.signals) {
                    for payload in queue {
                        self.put(name.clone(), payload);
                    }
                }
                for payload in std::mem::take(&mut continued.raw) {
                    self.put_raw(signal::DECISION.to_owned(), payload);
                }
                self.signals.extend(later);
            }
        }
        Ok(())
    }

    /// Records that the run is blocked until a worker has its agent.
    pub(crate) fn block(&mut self, detail: String, since: DateTime<Utc>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.block(detail, since);
        }
    }

    /// Returns the state for the next history. `history` is Temporal's id of this one.
    pub(crate) fn carry(&self, state: &RunState, history: &str) -> Option<Carried> {
        let ledger = self.ledger.as_ref()?;
        let settled = self.settled.iter().chain(ledger.events());
        let settled: Vec<_> = settled.filter_map(settles).collect();
        let newest = settled.len().saturating_sub(KNOWN_BEFORE);
        let newest_decided = self.decided.len().saturating_sub(KNOWN_BEFORE);
        Some(Carried {
            state: state.clone(),
            status: ledger.status().clone(),
            signals: self.signals_by_name(),
            raw: self.raw_decisions(),
            next_event: ledger.last() + 1,
            settled: settled.into_iter().skip(newest).collect(),
            decided: self.decided.iter().skip(newest_decided).cloned().collect(),
            rejected: self.rejected.iter().cloned().collect(),
            unobserved: ledger.unobserved().clone(),
            previous: history.to_owned(),
            shown: self.shown.is_on(),
        })
    }

    /// Records that the update of this id carried a decision.
    pub(crate) fn decided(&mut self, update: String) {
        self.decided.push(update);
    }

    /// Returns whether an earlier history took this decision, so that it is the same one again.
    pub(crate) fn was_decided_before(&self, update: &str) -> bool {
        let mut before = self.decided.iter().take(self.decided_before);
        before.any(|decided| decided == update)
    }

    /// Repeats how an earlier history answered a decision, if that history rejected it.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotTaken`].
    pub(crate) fn check_decided_before(&self, decision: &Decision) -> Result<(), Refusal> {
        let id = decision.id();
        let mut newest = self.rejected.iter().rev();
        match newest.find(|(rejected, _)| *rejected == id) {
            Some((_, reason)) => Err(Refusal::NotTaken {
                ticket: decision.ticket.clone(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Appends a signal.
    pub(crate) fn put(&mut self, name: String, payload: Value) {
        self.signals.push_back(Signal::new(name, payload));
    }

    /// Appends a signal as it came from the server.
    pub(crate) fn put_raw(&mut self, name: String, payload: Value) {
        let signal = Signal::new(name, payload);
        let is_decision = signal.name == signal::DECISION;
        self.signals.push_back(if is_decision {
            signal.unlooked()
        } else {
            signal
        });
    }

    /// Appends a decision. If it counts, and is all that its ticket needs, further decisions are kept out.
    ///
    /// # Errors
    ///
    /// If the decision cannot be written as JSON.
    pub(crate) fn put_decision(
        &mut self,
        decision: &Decision,
        counts: bool,
    ) -> Result<(), serde_json::Error> {
        self.put(signal::DECISION.to_owned(), serde_json::to_value(decision)?);
        if counts {
            let deciding = self.deciding.entry(decision.ticket.clone()).or_default();
            deciding.insert(decision.id());
        }
        Ok(())
    }

    /// Takes the oldest signal of these names.
    pub(crate) fn take(&mut self, names: &[&str]) -> Option<Signal> {
        let place = self.place_of(names)?;
        self.signals.remove(place)
    }

    /// Returns whether a signal of one of these names is queued.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.place_of(names).is_some()
    }

    fn place_of(&self, names: &[&str]) -> Option<usize> {
        let mut signals = self.signals.iter();
        signals.position(|signal| names.contains(&signal.name.as_str()))
    }

    fn signals_by_name(&self) -> BTreeMap<String, VecDeque<Value>> {
        let mut queues: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
        for Signal { name, payload, .. } in self.signals.iter().filter(|signal| !signal.raw) {
            let queue = queues.entry(name.clone()).or_default();
            queue.push_back(payload.clone());
        }
        queues
    }

    fn raw_decisions(&self) -> VecDeque<Value> {
        let raw = self.signals.iter().filter(|signal| signal.raw);
        raw.map(|signal| signal.payload.clone()).collect()
    }

    /// Returns whether the decisions about this ticket that are on their way to the loop, or being verified, are as
    /// many as the ticket needs.
    fn is_being_decided(&self, ticket: &str) -> bool {
        let under_way = self.deciding.get(ticket).map_or(0, BTreeSet::len);
        let open = self.status().into_iter();
        let mut open = open.flat_map(|status| &status.approvals);
        let open = open.find(|open| open.ticket == ticket);
        let (answered, most) = open.map_or((0, 1), |open| (open.answered, open.most_decisions()));
        let sent =
            u32::try_from(under_way).map_or(u32::MAX, |count| answered.saturating_add(count));
        sent >= most
    }

    /// Returns whether a decision about this ticket has come before the loop could open the ticket: it came together with
    /// the beginning of the history, which continues another one. A replay finds the same.
    pub(crate) fn is_early(&self, ticket: &str) -> bool {
        let is_settled = |recorded: &RecordedEvent| match &recorded.event {
            RunEvent::ApprovalDecided { ticket: known, .. }
            | RunEvent::ApprovalExpired { ticket: known } => known == ticket,
            _ => false,
        };
        let continues = self.previous.is_some() && !self.has_begun.get();
        continues && !self.has_ticket(ticket) && !self.settled.iter().any(is_settled)
    }

    /// Returns whether this ticket is open.
    pub(crate) fn has_ticket(&self, ticket: &str) -> bool {
        let open = self.status().into_iter();
        let mut open = open.flat_map(|status| &status.approvals);
        open.any(|open| open.ticket == ticket)
    }

    /// Records that the loop waits for something. Returns whether a decision waits for that.
    pub(crate) fn begun(&self) -> bool {
        !self.has_begun.replace(true) && self.early > 0
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.get()
    }

    /// Records that a decision waits until the loop waits for something.
    pub(crate) fn keep_early(&mut self) {
        self.early = self.early.saturating_add(1);
    }

    /// Records that the run has answered a decision.
    fn note_answer(&mut self, event: &RunEvent) {
        match event {
            RunEvent::ApprovalRefused {
                decision: Some(id),
                reason,
                ..
            } => {
                if self.rejected.len() >= KNOWN_BEFORE {
                    self.rejected.pop_front();
                }
                self.rejected.push_back((id.clone(), reason.clone()));
            }
            RunEvent::ApprovalGiven {
                decision: Some(id), ..
            }
            | RunEvent::ApprovalDecided {
                decision: Some(id), ..
            } => self.rejected.retain(|(rejected, _)| rejected != id),
            _ => {}
        }
        match event {
            RunEvent::ApprovalRefused {
                ticket,
                decision: Some(id),
                ..
            }
            | RunEvent::ApprovalGiven {
                ticket,
                decision: Some(id),
                ..
            } => {
                if let Some(deciding) = self.deciding.get_mut(ticket) {
                    deciding.remove(id);
                }
            }
            RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
                self.deciding.remove(ticket);
            }
            _ => {}
        }
    }

    /// Checks whether the run takes a decision.
    ///
    /// # Errors
    ///
    /// Returns why the run does not take it: for a ticket that is not open, its result in this history or an earlier
    /// one.
    pub(crate) fn check_decision(
        &self,
        run_id: RunId,
        decision: &Decision,
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        let ticket = decision.ticket.clone();
        let Some(status) = self.status() else {
            return Err(Refusal::UnknownTicket { run_id, ticket });
        };
        let events = self.ledger().map_or(&[][..], RunLedger::events);
        let checked = status.check_decision(decision, now);
        checked.map_err(|refusal| refusal.with_events(&self.settled).with_events(events))?;
        if self.is_being_decided(&ticket) {
            return Err(Refusal::AlreadyDecided { run_id, ticket });
        }
        Ok(())
    }

    /// Records an event of a run that has begun.
    pub(crate) fn record(&mut self, event: RunEvent, at: DateTime<Utc>) -> Option<RecordedEvent> {
        // The loop may have changed older messages.
        if matches!(
            event,
            RunEvent::ContextCompacted { .. }
                | RunEvent::Upgraded { .. }
                | RunEvent::HandedOver { .. }
        ) {
            self.encoder.doubt();
        }
        self.note_answer(&event);
        self.shown.note(&event);
        let ledger = self.ledger.as_mut()?;
        Some(ledger.record(event, at))
    }

    /// Records how the workflow ended. Returns whether that is news.
    pub(crate) fn end(&mut self, output: &RunOutput) -> bool {
        let ledger = self.ledger.as_mut();
        ledger.is_some_and(|ledger| ledger.end(output))
    }

    /// Takes the events that the hooks are to be notified of next.
    pub(crate) fn take_unobserved(&mut self) -> Vec<RunNotice> {
        let ledger = self.ledger.as_mut();
        ledger.map_or_else(Vec::new, |ledger| ledger.unobserved_mut().take())
    }

    /// Puts back what was taken for a step that is not made.
    pub(crate) fn put_back_unobserved(&mut self, taken: Vec<RunNotice>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.unobserved_mut().put_back(taken);
        }
    }

    /// Returns what this history shows; `None` before it begins.
    pub(crate) fn ledger(&self) -> Option<&RunLedger> {
        self.ledger.as_ref()
    }

    /// Returns the events of this history behind number `after`, as far as they fit an answer. `history` is Temporal's
    /// id of it.
    pub(crate) fn events_page(&self, history: &str, after: u64) -> EventsPage {
        EventsPage::of(self.ledger(), self.previous.as_deref(), history, after)
    }

    /// Returns the conversation behind its first `known` blocks, as far as it fits an answer.
    pub(crate) fn messages_page(&self, history: &str, known: u64) -> MessagesPage {
        MessagesPage::of(self.encoder.messages(), self.encoder.form(), history, known)
    }

    pub(crate) fn status(&self) -> Option<&RunStatus> {
        self.ledger.as_ref().map(RunLedger::status)
    }

    /// Returns the search attributes that are to be set now.
    pub(crate) fn search_attributes(
        &mut self,
    ) -> Result<Vec<SearchAttributeUpdate>, SearchAttributeError> {
        match &self.ledger {
            Some(ledger) => self.shown.updates(ledger.status()),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the Markdown that Temporal's own UI shows about the run.
    pub(crate) fn details(&self) -> String {
        let Some(status) = self.status() else {
            return String::new();
        };
        let usage = &status.usage;
        let mut text = format!(
            "**{}**, agent {}, turn {}, {} tokens in, {} out",
            status.state, status.agent, status.turn, usage.input_tokens, usage.output_tokens
        );
        // Writing to a String cannot fail.
        if let Some(cost) = status.cost_usd {
            let _ = write!(text, ", ${cost}");
        }
        let blocked = status.blocked.as_ref();
        if let Some(blocked) = blocked.filter(|blocked| !blocked.kind.is_ticket()) {
            let _ = write!(text, "\n- {}", blocked.detail);
        }
        if status.state == RunPhase::WaitingForApproval {
            for ticket in &status.approvals {
                let _ = write!(
                    text,
                    "\n- ticket `{}`: {} (digest `{}`)",
                    ticket.ticket,
                    ticket.subject(),
                    ticket.digest
                );
            }
        }
        text
    }
}

/// Returns what later histories need of an event that settles a ticket, without the content of the decision.
fn settles(recorded: &RecordedEvent) -> Option<RecordedEvent> {
    let event = match &recorded.event {
        RunEvent::ApprovalDecided {
            ticket,
            kind,
            verdict,
            ..
        } => RunEvent::ticket_decided(ticket, *kind, *verdict),
        expired @ RunEvent::ApprovalExpired { .. } => expired.clone(),
        _ => return None,
    };
    Some(RecordedEvent {
        seq: recorded.seq,
        at: recorded.at,
        event,
    })
}

#[cfg(test)]
mod tests {
    use neuron_types::{AgentSpec, StateVersion, Ticket};
    use serde_json::json;

    use super::*;
    use crate::wire::update_id::update_id;

    fn run_id() -> RunId {
        RunId::new("r1").unwrap()
    }

    fn view() -> RunView {
        let mut view = RunView::default();
        view.start(RunStatus::new(
            run_id(),
            "temporal",
            "a",
            DateTime::UNIX_EPOCH,
        ));
        let ticket = Ticket {
            ticket: "t1".into(),
            tool: Some("bash".into()),
            digest: "d".into(),
            ..Ticket::default()
        };
        let event = RunEvent::ApprovalRequested { turn: 1, ticket };
        view.record(event, DateTime::UNIX_EPOCH);
        view
    }

    fn decision(ticket: &str) -> Decision {
        serde_json::from_value(json!({"ticket": ticket, "digest": "d", "verdict": "approve"}))
            .unwrap()
    }

    fn checked(view: &RunView, ticket: &str) -> Result<(), Refusal> {
        view.check_decision(run_id(), &decision(ticket), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn a_decision_is_early_until_the_loop_of_a_later_history_has_waited() {
        let mut view = view();
        // The run has had no ticket before its first history.
        assert!(!view.is_early("t2"));
        view.previous = Some("h".into());
        assert!(view.is_early("t2"));
        assert!(!view.is_early("t1"), "it is open");
        view.settled = vec![RecordedEvent {
            seq: 1,
            at: DateTime::UNIX_EPOCH,
            event: RunEvent::ApprovalExpired {
                ticket: "t3".into(),
            },
        }];
        assert!(!view.is_early("t3"), "it was settled before");
        view.keep_early();
        assert!(!view.has_begun() && view.begun(), "a decision waits for it");
        assert!(view.has_begun() && !view.begun());
        assert!(!view.is_early("t2"));
    }

    #[test]
    fn takes_one_decision_a_ticket_taken_up_or_not() {
        let mut view = view();
        assert_eq!(checked(&view, "t1"), Ok(()));
        let refused = Err(Refusal::AlreadyDecided {
            run_id: run_id(),
            ticket: "t1".into(),
        });
        let decided = RunEvent::ApprovalDecided {
            ticket: "t1".into(),
            kind: neuron_types::TicketKind::Call,
            verdict: neuron_types::Verdict::Approve,
            digest: "d".into(),
            approver: None,
            verified: false,
            key: None,
            decided_at: None,
            comment: None,
            args: None,
            text: None,
            choice: None,
            output: None,
            decision: None,
        };
        let rejected = |id: &str| RunEvent::ApprovalRefused {
            ticket: "t1".into(),
            reason: "no".into(),
            decision: Some(id.into()),
        };
        view.put_decision(&decision("t1"), true).unwrap();
        assert_eq!(checked(&view, "t1"), refused);
        view.take(&["decision"]);
        // The decision is being verified, and the results of others change nothing about that.
        view.record(rejected("another"), DateTime::UNIX_EPOCH);
        assert_eq!(checked(&view, "t1"), refused);
        view.record(rejected(&decision("t1").id()), DateTime::UNIX_EPOCH);
        assert_eq!(checked(&view, "t1"), Ok(()));
        view.put_decision(&decision("t1"), true).unwrap();
        view.take(&["decision"]);
        view.record(decided, DateTime::UNIX_EPOCH);
        assert_eq!(checked(&view, "t1"), refused);
    }

    #[test]
    fn what_nobody_judged_keeps_no_decision_out() {
        let mut view = view();
        view.put_raw("decision".into(), json!(decision("t1")));
        view.put_decision(&decision("t1"), false).unwrap();
        assert_eq!(checked(&view, "t1"), Ok(()));
        assert!(view.take(&["decision"]).unwrap().raw);
        assert!(!view.take(&["decision"]).unwrap().raw);
    }

    #[test]
    fn a_later_history_knows_what_an_earlier_one_made_of_a_decision() {
        let mut view = view();
        let (no, yes) = (decision("t1"), decision("t2"));
        for decision in [&no, &yes] {
            view.decided(update_id(&run_id(), decision).unwrap());
        }
        let rejected = |id: String| RunEvent::ApprovalRefused {
            ticket: "t1".into(),
            reason: "no approver has the key".into(),
            decision: Some(id),
        };
        view.record(rejected(no.id()), DateTime::UNIX_EPOCH);
        let state: RunState = serde_json::from_value(json!({
            "version": StateVersion, "agent": AgentSpec::default(), "conversation": [],
            "stage": "tools", "turn": 1, "tool_calls": 0, "calls": [], "usage": {},
            "cost_usd": null, "started_at": DateTime::UNIX_EPOCH, "waiting_since": null,
            "waited_ms": 0, "last_text": null, "limit": null, "outbox": [],
        }))
        .unwrap();
        let carried = serde_json::to_value(view.carry(&state, "h1")).unwrap();
        let carried: Carried = serde_json::from_value(carried).unwrap();
        let mut later = RunView::default();
        let mut input = HistoryInput::from(carried);
        later
            .open(run_id(), "temporal", &mut input, DateTime::UNIX_EPOCH)
            .unwrap();
        for decision in [&no, &yes] {
            let update = update_id(&run_id(), decision).unwrap();
            assert!(later.was_decided_before(&update));
        }
        assert_eq!(
            later.check_decided_before(&no),
            Err(Refusal::NotTaken {
                ticket: "t1".into(),
                reason: "no approver has the key".into(),
            })
        );
        assert_eq!(later.check_decided_before(&yes), Ok(()));
        // The newest are known, of both kinds the same number.
        for number in 0..2 * KNOWN_BEFORE {
            later.record(rejected(number.to_string()), DateTime::UNIX_EPOCH);
        }
        let carried = later.carry(&state, "h2").unwrap();
        assert_eq!(carried.rejected.len(), KNOWN_BEFORE);
    }

    #[test]
    fn a_run_that_has_not_started_has_no_ticket() {
        let refused = checked(&RunView::default(), "t1");
        assert!(
            matches!(refused, Err(Refusal::UnknownTicket { .. })),
            "{refused:?}"
        );
    }
}
