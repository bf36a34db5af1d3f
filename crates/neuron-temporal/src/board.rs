//! What a run shows and what has reached it: the workflow's state beside the loop.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
};

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunId, RunPhase, RunState, RunStatus, signal};
use serde_json::Value;
use temporalio_common::search_attributes::{SearchAttributeError, SearchAttributeUpdate};
use temporalio_sdk::WorkflowCancellationToken;

use crate::{
    carried::{Carried, HistoryInput, Opening, json_bytes},
    line::Line,
    payload::for_hooks,
    roll_over::Fill,
    search_attributes::Shown,
};

/// Of how many tickets and decisions before this history it is known what became of them.
const KNOWN_BEFORE: usize = 256;

/// The state of one run that its queries show and its signals change.
#[derive(Debug, Default)]
pub(crate) struct Board {
    signals: BTreeMap<String, VecDeque<Value>>,
    /// What became of tickets in earlier histories, and behind that all events of this one.
    events: Vec<RecordedEvent>,
    /// How many of the events are of earlier histories.
    settled: usize,
    /// The number of the last event.
    last_event: u64,
    status: Option<RunStatus>,
    /// What the hooks have not been told yet.
    untold: Vec<RunEvent>,
    /// The conversation as the model activities know it.
    pub(crate) line: Line,
    /// Cancelled when the run is; made when it is first asked for.
    pub(crate) stop: Option<WorkflowCancellationToken>,
    pub(crate) fill: Fill,
    pub(crate) shown: Shown,
    /// The bytes of the results of local calls that the server has not been told yet.
    pub(crate) local_bytes: usize,
    /// How long the history was when an update was taken last. It is answered when the workflow waits.
    pub(crate) updated_at: Option<u32>,
    /// The ids of the updates that carried decisions; the first `decided_before` came to earlier histories.
    decided: Vec<String>,
    decided_before: usize,
    /// The id that Temporal gave the history before this one.
    previous: Option<String>,
    /// What the next history begins with, if this one is left.
    pub(crate) left: Option<Carried>,
}

impl Board {
    /// The run starts.
    pub(crate) fn start(&mut self, run_id: RunId, engine: &str, agent: &str, now: DateTime<Utc>) {
        self.status = Some(RunStatus::new(run_id, engine, agent, now));
    }

    /// The history begins: the run's first, or one that goes on where another was left.
    pub(crate) fn open(
        &mut self,
        run_id: RunId,
        engine: &str,
        input: &mut HistoryInput,
        now: DateTime<Utc>,
    ) -> Result<(), serde_json::Error> {
        self.fill.begin(json_bytes(input)?);
        match &mut input.0 {
            Opening::New(input) => self.start(run_id, engine, &input.agent.name, now),
            Opening::Continued { continued } => {
                self.line.begin(&continued.state.agent.request.messages)?;
                self.status = Some(continued.status.clone());
                self.last_event = continued.next_event.saturating_sub(1);
                self.events = std::mem::take(&mut continued.settled);
                self.settled = self.events.len();
                self.decided = std::mem::take(&mut continued.decided);
                self.decided_before = self.decided.len();
                self.untold = std::mem::take(&mut continued.untold);
                self.previous = Some(std::mem::take(&mut continued.previous));
                // Signals of this history may be here already: they came later.
                for (name, mut queue) in std::mem::take(&mut continued.signals) {
                    let later = self.signals.entry(name).or_default();
                    queue.append(later);
                    *later = queue;
                }
            }
        }
        Ok(())
    }

    /// What the next history has to know. `history` is the id that Temporal gave this one.
    pub(crate) fn carry(&self, state: &RunState, history: &str) -> Option<Carried> {
        let settled = self.events.iter().filter_map(settles);
        let settled: Vec<_> = settled.collect();
        let newest = settled.len().saturating_sub(KNOWN_BEFORE);
        let newest_decided = self.decided.len().saturating_sub(KNOWN_BEFORE);
        Some(Carried {
            state: state.clone(),
            status: self.status.clone()?,
            signals: self.signals.clone(),
            next_event: self.last_event + 1,
            settled: settled.into_iter().skip(newest).collect(),
            decided: self.decided.iter().skip(newest_decided).cloned().collect(),
            untold: self.untold.clone(),
            previous: history.to_owned(),
            shown: self.shown.is_on(),
        })
    }

    /// Notes that the update of this id carried a decision.
    pub(crate) fn decided(&mut self, update: String) {
        self.decided.push(update);
    }

    /// Whether an earlier history took this decision, so that it is the same one again.
    pub(crate) fn was_decided_before(&self, update: &str) -> bool {
        let mut before = self.decided.iter().take(self.decided_before);
        before.any(|decided| decided == update)
    }

    /// Puts a signal behind those of its name.
    pub(crate) fn put(&mut self, name: String, payload: Value) {
        self.signals.entry(name).or_default().push_back(payload);
    }

    /// Takes the oldest signal of this name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.signals.get_mut(name).and_then(VecDeque::pop_front)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.signals
            .get(name)
            .is_some_and(|queue| !queue.is_empty())
    }

    /// Whether a decision about this ticket is on its way to the loop.
    pub(crate) fn decision_is_queued(&self, ticket: &str) -> bool {
        let mut queued = self.signals.get(signal::DECISION).into_iter().flatten();
        queued.any(|decision| decision.get("ticket").and_then(Value::as_str) == Some(ticket))
    }

    /// Takes in what happened.
    pub(crate) fn record(&mut self, event: RunEvent, at: DateTime<Utc>) -> RecordedEvent {
        if matches!(event, RunEvent::ContextCompacted { .. }) {
            self.line.doubt();
        }
        self.untold.extend(for_hooks(&event));
        if let Some(status) = &mut self.status {
            status.apply(&event, at);
        }
        self.last_event += 1;
        let seq = self.last_event;
        let recorded = RecordedEvent { seq, at, event };
        self.events.push(recorded.clone());
        recorded
    }

    /// Takes what the hooks are to be told next.
    pub(crate) fn take_untold(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.untold)
    }

    /// The events of this history, and before them what became of tickets in earlier ones.
    pub(crate) fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// The events of this history.
    pub(crate) fn own_events(&self) -> &[RecordedEvent] {
        self.events.get(self.settled..).unwrap_or_default()
    }

    /// The number of the first event of this history.
    pub(crate) fn first_event(&self) -> u64 {
        self.last_event + 1 - self.own_events().len() as u64
    }

    /// The id that Temporal gave the history before this one.
    pub(crate) fn previous(&self) -> Option<&str> {
        self.previous.as_deref()
    }

    pub(crate) fn status(&self) -> Option<&RunStatus> {
        self.status.as_ref()
    }

    /// The search attributes that are to be set now.
    pub(crate) fn search_attributes(
        &mut self,
    ) -> Result<Vec<SearchAttributeUpdate>, SearchAttributeError> {
        match &self.status {
            Some(status) => self.shown.updates(status),
            None => Ok(Vec::new()),
        }
    }

    /// What Temporal's own UI shows of the run, in Markdown.
    pub(crate) fn details(&self) -> String {
        let Some(status) = &self.status else {
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
        if status.state == RunPhase::WaitingForApproval {
            for ticket in &status.approvals {
                let _ = write!(
                    text,
                    "\n- ticket `{}`: {} (digest `{}`)",
                    ticket.ticket, ticket.tool, ticket.digest
                );
            }
        }
        text
    }
}

/// What an event says about what became of a ticket, without what was decided.
fn settles(recorded: &RecordedEvent) -> Option<RecordedEvent> {
    let event = match &recorded.event {
        RunEvent::ApprovalDecided {
            ticket, verdict, ..
        } => RunEvent::ApprovalDecided {
            ticket: ticket.clone(),
            verdict: *verdict,
            approver: None,
            comment: None,
            args: None,
        },
        expired @ RunEvent::ApprovalExpired { .. } => expired.clone(),
        _ => return None,
    };
    Some(RecordedEvent {
        seq: recorded.seq,
        at: recorded.at,
        event,
    })
}
