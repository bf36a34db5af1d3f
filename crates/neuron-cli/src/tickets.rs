//! Open tickets, and what to type about them.

use neuron_types::{ApprovalTicket, RunId, RunStatus};

use crate::shown;

/// A ticket in a few lines: the whole call, why somebody is asked, and until when.
pub(crate) fn describe(ticket: &ApprovalTicket) -> String {
    let mut text = format!(
        "{}: {}\n  reason: {}",
        shown::line(&ticket.ticket),
        shown::whole_call(&ticket.tool, &ticket.args),
        shown::line(&ticket.reason)
    );
    if let Some(at) = ticket.expires_at {
        text.push_str(&format!("\n  expires: {}", crate::table::time(at)));
    }
    text
}

/// What to type to decide about it.
pub(crate) fn commands(run_id: &RunId, ticket: &ApprovalTicket) -> String {
    let ticket = shown::shell_word(&ticket.ticket);
    format!("  neuron approve {run_id} {ticket}\n  neuron deny {run_id} {ticket}")
}

/// What a run that was parked waits for, and how to go on. `resume` is the command that does.
pub(crate) fn parked(status: &RunStatus, resume: &str) -> String {
    let run_id = &status.run_id;
    let mut text = format!("run {run_id} is {}", crate::describe::waiting(status.state));
    for ticket in &status.approvals {
        text.push_str(&format!(
            "\nticket {}\n{}",
            describe(ticket),
            commands(run_id, ticket)
        ));
    }
    text.push_str(&format!("\nthen go on: {resume}"));
    text
}
