//! Whether a person's decision fits a ticket of the run.

use chrono::{DateTime, Utc};
use neuron_types::{Decision, RecordedEvent, RunEvent, RunStatus, Verdict};

use crate::refusal::Refusal;

/// Checks a decision against the tickets that are open.
///
/// # Errors
///
/// `None` if there is no such ticket open: what became of it stands in the events.
pub(crate) fn check(
    status: &RunStatus,
    decision: &Decision,
    now: DateTime<Utc>,
) -> Result<(), Option<Refusal>> {
    let run_id = status.run_id.to_string();
    let ticket = decision.ticket.clone();
    let mut open = status.approvals.iter();
    let Some(open) = open.find(|open| open.ticket == ticket) else {
        return Err(None);
    };
    if open.expires_at.is_some_and(|at| at <= now) {
        return Err(Some(Refusal::TicketExpired { run_id, ticket }));
    }
    if open.digest != decision.digest {
        return Err(Some(Refusal::WrongDigest { run_id, ticket }));
    }
    if decision.verdict == Verdict::Deny && decision.args.is_some() {
        return Err(Some(Refusal::ArgsWithDenial { ticket }));
    }
    Ok(())
}

/// Why a ticket is not open.
pub(crate) fn why_closed(
    status: &RunStatus,
    decision: &Decision,
    events: &[RecordedEvent],
) -> Refusal {
    let run_id = status.run_id.to_string();
    let closed = events.iter().find_map(|recorded| match &recorded.event {
        RunEvent::ApprovalDecided { ticket, .. } if *ticket == decision.ticket => Some(false),
        RunEvent::ApprovalExpired { ticket } if *ticket == decision.ticket => Some(true),
        _ => None,
    });
    let ticket = decision.ticket.clone();
    match closed {
        Some(false) => Refusal::AlreadyDecided { run_id, ticket },
        Some(true) => Refusal::TicketExpired { run_id, ticket },
        None => Refusal::UnknownTicket { run_id, ticket },
    }
}
