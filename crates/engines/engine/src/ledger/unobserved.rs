//! The events that hooks, traces and metrics are to be notified of.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunId, RunNotice, RunTags, Ticket, TokenUsage};
use serde::{Deserialize, Serialize};

/// The events of a run that its hooks, traces and metrics have not been notified of. Events that none of them observes
/// are not kept, so that keeping the others costs next to nothing.
///
/// The notice of an end has the duration, if the beginning was in this segment of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unobserved {
    notices: Vec<RunNotice>,
    /// What has not ended.
    #[serde(skip)]
    began: BTreeMap<Began, Beginning>,
    /// The agent that acts in the run.
    #[serde(skip)]
    agent: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Beginning {
    at: DateTime<Utc>,
    agent: Option<String>,
    turn: Option<u32>,
}

/// A span of time: it begins with one event and ends with another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Began {
    Run,
    Turn(u32),
    Ticket(String),
    Child(RunId),
}

impl Unobserved {
    /// Adds an event that happened at this time, if it is one that hooks observe.
    pub fn push(&mut self, event: &RunEvent, at: DateTime<Utc>) {
        self.push_of(event, at, None);
    }

    /// As [`push`](Self::push), for an event of this agent's, if its beginning was not in this segment of the run.
    pub(crate) fn push_of(&mut self, event: &RunEvent, at: DateTime<Utc>, of: Option<String>) {
        if let Some(agent) = acts(event) {
            self.agent = Some(agent.clone());
        }
        if let Some((began, turn)) = begins(event) {
            let agent = match event {
                RunEvent::ChildStarted { agent, .. } => Some(agent.clone()),
                _ => self.agent.clone(),
            };
            self.began.insert(began, Beginning { at, agent, turn });
        }
        let ended = ends(event).and_then(|ended| self.began.remove(&ended));
        let took = ended.as_ref().map(|ended| at - ended.at);
        let told = told_of(event).map(|event| RunNotice {
            event,
            took_ms: took.and_then(|took| u64::try_from(took.num_milliseconds()).ok()),
            in_turn: ended.as_ref().and_then(|ended| ended.turn),
            agent: ended.and_then(|ended| ended.agent).or(of),
        });
        if matches!(event, RunEvent::RunEnded { .. }) {
            self.close_tickets(at);
        }
        self.notices.extend(told);
    }

    /// Closes the tickets that are open when the run ends: no decision about them can arrive any more.
    fn close_tickets(&mut self, at: DateTime<Utc>) {
        for (began, since) in std::mem::take(&mut self.began) {
            let Began::Ticket(ticket) = began else {
                continue;
            };
            let took = (at - since.at).num_milliseconds();
            self.notices.push(RunNotice {
                event: RunEvent::ApprovalExpired { ticket },
                took_ms: u64::try_from(took).ok(),
                in_turn: since.turn,
                agent: since.agent,
            });
        }
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notices.is_empty()
    }

    /// Takes all events, in their order.
    #[must_use]
    pub fn take(&mut self) -> Vec<RunNotice> {
        std::mem::take(&mut self.notices)
    }

    /// Puts back events that were taken for a step that is not made, before those that came since.
    pub fn put_back(&mut self, taken: Vec<RunNotice>) {
        self.notices.splice(..0, taken);
    }
}

impl<'a> FromIterator<&'a RecordedEvent> for Unobserved {
    fn from_iter<I: IntoIterator<Item = &'a RecordedEvent>>(events: I) -> Self {
        let mut unobserved = Self::default();
        for recorded in events {
            unobserved.push(&recorded.event, recorded.at);
        }
        unobserved
    }
}

fn acts(event: &RunEvent) -> Option<&String> {
    match event {
        RunEvent::RunStarted { agent, .. } | RunEvent::AgentAsked { agent, .. } => Some(agent),
        RunEvent::HandedOver { to, .. } => Some(to),
        _ => None,
    }
}

fn begins(event: &RunEvent) -> Option<(Began, Option<u32>)> {
    Some(match event {
        RunEvent::RunStarted { .. } => (Began::Run, None),
        RunEvent::TurnStarted { turn } => (Began::Turn(*turn), None),
        RunEvent::ApprovalRequested { turn, ticket } => {
            (Began::Ticket(ticket.ticket.clone()), Some(*turn))
        }
        RunEvent::ChildStarted { turn, run_id, .. } => (Began::Child(run_id.clone()), Some(*turn)),
        _ => return None,
    })
}

fn ends(event: &RunEvent) -> Option<Began> {
    Some(match event {
        RunEvent::RunEnded { .. } => Began::Run,
        RunEvent::TurnEnded { turn } => Began::Turn(*turn),
        RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
            Began::Ticket(ticket.clone())
        }
        RunEvent::ChildEnded { run_id, .. } => Began::Child(run_id.clone()),
        _ => return None,
    })
}

/// Returns the event as hooks are notified of it.
fn told_of(event: &RunEvent) -> Option<RunEvent> {
    match event {
        RunEvent::RunStarted { agent, .. } => Some(RunEvent::RunStarted {
            agent: agent.clone(),
            model: String::new(),
            prompt: String::new(),
            definition: String::new(),
            tags: RunTags::default(),
            nonce: None,
            trace: None,
            directory: None,
            signed: false,
        }),
        RunEvent::RunEnded {
            exit_reason, pools, ..
        } => Some(RunEvent::RunEnded {
            exit_reason: *exit_reason,
            output: None,
            error: None,
            pools: pools.clone(),
        }),
        RunEvent::ApprovalRequested { turn, ticket } => Some(RunEvent::ApprovalRequested {
            turn: *turn,
            ticket: Ticket {
                ticket: ticket.ticket.clone(),
                kind: ticket.kind,
                opened_at: ticket.opened_at,
                ..Ticket::default()
            },
        }),
        RunEvent::ApprovalDecided {
            ticket,
            kind,
            verdict,
            ..
        } => Some(RunEvent::ticket_decided(ticket, *kind, *verdict)),
        RunEvent::ChildEnded {
            run_id,
            exit_reason,
            ..
        } => Some(RunEvent::ChildEnded {
            run_id: run_id.clone(),
            exit_reason: *exit_reason,
            usage: TokenUsage::default(),
            cost_usd: None,
            reserved: neuron_types::Amount::ZERO,
        }),
        RunEvent::TurnStarted { .. }
        | RunEvent::TurnEnded { .. }
        | RunEvent::ApprovalExpired { .. }
        | RunEvent::ChildStarted { .. }
        | RunEvent::ContextCompacted { .. } => Some(event.clone()),
        _ => None,
    }
}
