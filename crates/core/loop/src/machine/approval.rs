//! Tickets: opened, decided, lapsed.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use neuron_types::{
    ApprovalTicket, CallState, Decision, FailureKind, OnExpiry, RememberedDecision, RunEvent,
    ToolCall, Verdict, canonical_json,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::AgentMachine;

/// The digest of a ticket: SHA-256 over its id, the tool's name and the arguments as
/// [canonical JSON](canonical_json), in hexadecimal.
#[must_use]
pub fn ticket_digest(ticket: &str, tool: &str, args: &Value) -> String {
    let args = canonical_json(args);
    let parts = [ticket, tool, args.as_str()];
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let mut digest = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}

/// What the model reads where a person denied a call.
fn denial(approver: Option<&str>, comment: Option<&str>) -> String {
    let who = approver.unwrap_or("a person");
    let why = comment.map(|text| format!(": {text}")).unwrap_or_default();
    format!("not called: {who} denied it{why}")
}

impl AgentMachine {
    pub(crate) fn open_ticket(&mut self, index: usize, reason: String, now: DateTime<Utc>) {
        let turn = self.state.turn;
        let lifetime = self.state.agent.approval_timeout;
        let lapses = lifetime.and_then(|time| chrono::Duration::from_std(time).ok());
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        let scope = match self.state.scope {
            0 => String::new(),
            scope => format!("s{scope}-"),
        };
        let id = match slot.tickets {
            0 => format!("{scope}t{turn}-{}", slot.position),
            again => format!("{scope}t{turn}-{}-{}", slot.position, again + 1),
        };
        slot.tickets += 1;
        let ToolCall { name, input, .. } = &slot.call;
        let ticket = ApprovalTicket {
            digest: ticket_digest(&id, name, input),
            ticket: id,
            tool: name.clone(),
            args: input.clone(),
            reason,
            expires_at: lapses.and_then(|time| now.checked_add_signed(time)),
        };
        slot.state = CallState::Asked(ticket.clone());
        self.emit(RunEvent::ApprovalRequested { turn, ticket });
    }

    pub(crate) fn decided(&mut self, decision: Decision, now: DateTime<Utc>) {
        let (index, ticket) = match self.open_ticket_of(&decision) {
            Ok(found) => found,
            Err(reason) => {
                self.emit(RunEvent::ApprovalRefused {
                    ticket: decision.ticket,
                    reason,
                });
                return;
            }
        };
        self.stop_waiting(now);
        self.emit(RunEvent::ApprovalDecided {
            ticket: decision.ticket,
            verdict: decision.verdict,
            approver: decision.approver.clone(),
            comment: decision.comment.clone(),
            args: decision.args.clone(),
        });
        if decision.remember {
            self.state.agent.approvals.remember(RememberedDecision {
                tool: ticket.tool.clone(),
                reason: ticket.reason.clone(),
                verdict: decision.verdict,
                comment: decision.comment.clone(),
                approver: decision.approver.clone(),
            });
        }
        match decision.verdict {
            Verdict::Approve => {
                if let (Some(slot), Some(args)) = (self.state.calls.get_mut(index), decision.args) {
                    slot.edited = slot.edited || args != ticket.args;
                    slot.call.input = args;
                }
                self.make_ready(index);
            }
            Verdict::Deny => {
                let (who, why) = (decision.approver.as_deref(), decision.comment.as_deref());
                self.refuse_call(index, &denial(who, why));
            }
        }
        self.settle(now);
    }

    /// Asks a person, or goes by what one decided about this question for the rest of the run.
    pub(crate) fn ask(&mut self, index: usize, reason: String, now: DateTime<Utc>) {
        let turn = self.state.turn;
        let Some(ToolCall { id, name, .. }) = self.state.calls.get(index).map(|slot| &slot.call)
        else {
            return;
        };
        let Some(known) = self.state.agent.approvals.remembered(name, &reason) else {
            self.open_ticket(index, reason, now);
            return;
        };
        let (known, call_id) = (known.clone(), id.clone());
        self.emit(RunEvent::DecisionRepeated {
            turn,
            call_id,
            tool: known.tool,
            verdict: known.verdict,
            approver: known.approver.clone(),
        });
        match known.verdict {
            Verdict::Approve => self.make_ready(index),
            Verdict::Deny => {
                let (who, why) = (known.approver.as_deref(), known.comment.as_deref());
                self.refuse_call(index, &denial(who, why));
            }
        }
    }

    fn open_ticket_of(&self, decision: &Decision) -> Result<(usize, ApprovalTicket), String> {
        let found = self
            .state
            .calls
            .iter()
            .enumerate()
            .find_map(|(index, slot)| match &slot.state {
                CallState::Asked(ticket) if ticket.ticket == decision.ticket => {
                    Some((index, ticket))
                }
                _ => None,
            });
        match found {
            None => Err("there is no open ticket of this name".to_owned()),
            Some((_, ticket)) if ticket.digest != decision.digest => {
                Err("the digest is not that of the ticket".to_owned())
            }
            Some((index, ticket)) => Ok((index, ticket.clone())),
        }
    }

    pub(crate) fn tickets_lapsed(&mut self, now: DateTime<Utc>) {
        let has_lapsed = |ticket: &ApprovalTicket| ticket.expires_at.is_some_and(|at| at <= now);
        let slots = self.state.calls.iter().enumerate();
        let lapsed: Vec<(usize, String)> = slots
            .filter_map(|(index, slot)| match &slot.state {
                CallState::Asked(ticket) if has_lapsed(ticket) => {
                    Some((index, ticket.ticket.clone()))
                }
                _ => None,
            })
            .collect();
        if lapsed.is_empty() {
            return;
        }
        self.stop_waiting(now);
        for (index, ticket) in lapsed {
            let refusal = "not called: nobody decided about it in time";
            self.emit(RunEvent::ApprovalExpired {
                ticket: ticket.clone(),
            });
            self.refuse_call(index, refusal);
            if self.state.agent.on_expiry == OnExpiry::Fail {
                let message = format!("nobody decided about ticket {ticket} in time");
                self.fail(FailureKind::Permission, message, now);
                return;
            }
        }
        self.settle(now);
    }
}
