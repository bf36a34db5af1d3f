//! What a run shows and what has reached it: the workflow's state beside the loop.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
};

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunId, RunPhase, RunStatus, signal};
use serde_json::Value;
use temporalio_sdk::WorkflowCancellationToken;

use crate::{line::Line, payload::for_hooks};

/// The state of one run that its queries show and its signals change.
#[derive(Debug, Default)]
pub(crate) struct Board {
    signals: BTreeMap<String, VecDeque<Value>>,
    events: Vec<RecordedEvent>,
    status: Option<RunStatus>,
    /// What the hooks have not been told yet.
    untold: Vec<RunEvent>,
    /// The conversation as the model activities know it.
    pub(crate) line: Line,
    /// Cancelled when the run is; made when it is first asked for.
    pub(crate) stop: Option<WorkflowCancellationToken>,
}

impl Board {
    /// The run starts.
    pub(crate) fn start(&mut self, run_id: RunId, engine: &str, agent: &str, now: DateTime<Utc>) {
        self.status = Some(RunStatus::new(run_id, engine, agent, now));
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
        let seq = self.events.len() as u64 + 1;
        let recorded = RecordedEvent { seq, at, event };
        self.events.push(recorded.clone());
        recorded
    }

    /// Takes what the hooks are to be told next.
    pub(crate) fn take_untold(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.untold)
    }

    pub(crate) fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    pub(crate) fn status(&self) -> Option<&RunStatus> {
        self.status.as_ref()
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
