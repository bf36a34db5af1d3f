//! Tickets: opened, put to others, lapsed.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    Asking, FailureKind, JudgedCall, OnExpiry, OpenTicket, Pending, RunEvent, Stage, StepId,
    Ticket, TicketKind, ToolCall, ToolDefinition, ticket_digest,
};
use serde_json::Value;

use crate::{AgentMachine, machine::call::CallEvent};

/// What a new ticket asks, and whom.
pub(crate) struct Opening {
    pub(crate) kind: TicketKind,
    pub(crate) asking: Asking,
    pub(crate) text: Option<String>,
    pub(crate) diff: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) choices: Vec<String>,
    pub(crate) pending: Option<Pending>,
}

impl Opening {
    pub(crate) const fn new(kind: TicketKind, asking: Asking) -> Self {
        Self {
            kind,
            asking,
            text: None,
            diff: None,
            fingerprint: None,
            schema: None,
            choices: Vec::new(),
            pending: None,
        }
    }
}

impl AgentMachine {
    /// Opens a ticket for a call, which waits until it is decided.
    pub(crate) fn open_ticket(&mut self, index: usize, opening: Opening, now: DateTime<Utc>) {
        let Opening {
            kind,
            asking,
            text,
            diff,
            fingerprint,
            schema,
            choices,
            pending,
        } = opening;
        let turn = self.state.turn;
        let lifetime = asking.within.or(self.state.agent.approval_timeout);
        let agent = self.agent_of_steps();
        if !self.call(index, CallEvent::TicketOpened) {
            return;
        }
        let scope = self.state.scope;
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        let step = StepId {
            scope,
            ..StepId::new(turn, slot.position)
        };
        let id = match slot.tickets {
            0 => step.ticket(),
            again => format!("{}-{}", step.ticket(), again.saturating_add(1)),
        };
        slot.tickets = slot.tickets.saturating_add(1);
        let position = slot.position;
        let call = kind.is_about_call().then_some(&slot.call);
        let prefix = match kind {
            TicketKind::Call => judged(&slot.call, &self.state.agent.head.tools).prefix(),
            _ => None,
        };
        let mut ticket = Ticket {
            ticket: id,
            kind,
            run: self.state.run.clone(),
            agent,
            tool: call.map(|call| call.name.clone()),
            args: call.map(|call| call.input.clone()),
            reason: asking.reason,
            text,
            diff,
            fingerprint,
            schema,
            choices,
            opened_at: now,
            expires_at: after(now, lifetime),
            from: asking.from,
            needed: asking.needed.max(1),
            then: asking.then,
            prefix,
            token_sha256: match &pending {
                Some(Pending::External { token_sha256, .. }) => Some(token_sha256.clone()),
                _ => None,
            },
            ..Ticket::default()
        };
        let directory = self.state.directory.as_deref();
        ticket.digest = ticket_digest(&ticket, self.state.lineage.nonce, directory);
        self.state.tickets.push(OpenTicket {
            ticket: ticket.clone(),
            position: Some(position),
            lifetime,
            pending,
            ..OpenTicket::default()
        });
        self.emit(RunEvent::ApprovalRequested { turn, ticket });
    }

    /// Returns when the first undecided ticket lapses. A ticket whose decision is being verified waits for that.
    pub(crate) fn first_expiry(&self) -> Option<DateTime<Utc>> {
        let undecided = self
            .state
            .tickets
            .iter()
            .filter(|open| open.queued.is_empty());
        undecided.filter_map(|open| open.ticket.expires_at).min()
    }

    /// The time of tickets may be over: they are put to others, or lapse.
    pub(crate) fn tickets_lapsed(&mut self, now: DateTime<Utc>) {
        let is_due = |open: &&OpenTicket| {
            open.queued.is_empty() && open.ticket.expires_at.is_some_and(|at| at <= now)
        };
        let due = self.state.tickets.iter().filter(is_due);
        let due: Vec<String> = due.map(|open| open.ticket.ticket.clone()).collect();
        let mut has_lapsed = false;
        for ticket in due {
            if self.escalate(&ticket, now) {
                continue;
            }
            has_lapsed = true;
            self.stop_waiting(now);
            self.lapse(&ticket, now);
            if matches!(self.state.stage, Stage::Ended(_)) {
                return;
            }
            if self.state.agent.on_expiry == OnExpiry::Fail {
                let message = format!("nobody decided about ticket {ticket} in time");
                self.fail(FailureKind::Permission, message, now);
                return;
            }
        }
        if has_lapsed {
            self.settle(now);
        }
    }

    /// Puts a ticket to those who are asked next, and returns whether there are any.
    fn escalate(&mut self, ticket: &str, now: DateTime<Utc>) -> bool {
        let mut open = self.state.tickets.iter_mut();
        let Some(open) = open.find(|open| open.ticket.ticket == ticket) else {
            return false;
        };
        let Some(to) = open.ticket.then.take() else {
            return false;
        };
        let expires_at = after(now, open.lifetime);
        open.ticket.escalate(&to, expires_at);
        open.approvals.clear();
        open.taken_up = 0;
        self.emit(RunEvent::ApprovalEscalated {
            ticket: ticket.to_owned(),
            to,
            expires_at,
        });
        true
    }

    fn lapse(&mut self, ticket: &str, now: DateTime<Utc>) {
        let Some(open) = self.close_ticket(ticket) else {
            return;
        };
        self.emit(RunEvent::ApprovalExpired {
            ticket: ticket.to_owned(),
        });
        if let Some(halt) = self.take_halt(ticket) {
            return self.lapse_halt(halt, now);
        }
        let Some(index) = self.index_of(&open) else {
            return;
        };
        let reason = match open.ticket.kind {
            TicketKind::Question | TicketKind::Form => "not answered: nobody answered in time",
            TicketKind::External => "no result: it did not come in time",
            TicketKind::UnknownOutcome => return self.leave_unknown(index, &open),
            TicketKind::Guard => "withheld: nobody released the result in time",
            _ => "not called: nobody decided about it in time",
        };
        self.refuse_call(index, reason);
    }

    /// Takes a ticket from the open ones.
    pub(crate) fn close_ticket(&mut self, ticket: &str) -> Option<OpenTicket> {
        let tickets = &mut self.state.tickets;
        let place = tickets
            .iter()
            .position(|open| open.ticket.ticket == ticket)?;
        Some(tickets.remove(place))
    }

    /// Returns the position in the batch of the call that a ticket is about.
    pub(crate) fn index_of(&self, open: &OpenTicket) -> Option<usize> {
        let position = open.position?;
        let mut slots = self.state.calls.iter();
        slots.position(|slot| slot.position == position)
    }
}

/// A call as rules look at it.
pub(crate) fn judged<'a>(call: &'a ToolCall, tools: &'a [ToolDefinition]) -> JudgedCall<'a> {
    let definition = tools.iter().find(|tool| tool.name == call.name);
    let kinds = definition.map(|definition| &definition.arguments);
    JudgedCall::new(&call.name, &call.input, kinds, None)
}

pub(crate) fn after(now: DateTime<Utc>, lifetime: Option<Duration>) -> Option<DateTime<Utc>> {
    let lifetime = chrono::Duration::from_std(lifetime?).ok()?;
    now.checked_add_signed(lifetime)
}
