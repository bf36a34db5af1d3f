//! A ticket as the run keeps it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{Decision, Given, Pending, Ticket, TicketKind, Verdict, json::millis};

/// A ticket that is open, and what has come of it so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenTicket {
    /// What people see of the ticket.
    pub ticket: Ticket,
    /// The position in the turn of the call that it is about; `None` if it is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// How long it stays open, and once more if it is put to others.
    #[serde(
        rename = "lifetime_ms",
        default,
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub lifetime: Option<Duration>,
    /// What the call waits for, if it was made already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// Decisions that are still to be verified, in the order of their arrival; the first may be in flight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<Decision>,
    /// The position of the call in flight that verifies the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifying: Option<u32>,
    /// The approvals that it has taken, where it needs more than one, as they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Decision>,
    /// How many decisions were looked at that came as [raw signals](crate::Signal::raw).
    #[serde(default, skip_serializing_if = "is_none")]
    pub taken_up: u32,
    /// When it was last reported that one more of them was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_at: Option<DateTime<Utc>>,
}

impl OpenTicket {
    /// Takes an approval in that is one of several. Approvals of other arguments count no more.
    pub fn give(&mut self, given: Given, decision: Decision) {
        let shown = self.ticket.args_or_null();
        let of = |decision: &Decision| decision.args.as_ref().unwrap_or(shown).clone();
        let approved = of(&decision);
        self.approvals.retain(|old| of(old) == approved);
        self.approvals.push(decision);
        self.ticket.give(given);
    }

    /// Returns the tool whose arguments the decision puts others in the place of; `None` if it is no such decision.
    #[must_use]
    pub fn edited_tool(&self, decision: &Decision) -> Option<&str> {
        let makes_call =
            self.ticket.kind == TicketKind::Call && decision.verdict == Verdict::Approve;
        self.ticket
            .tool
            .as_deref()
            .filter(|_| makes_call && decision.args.is_some())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}
