//! Open tickets, and what to type about them.

use neuron_types::{ApprovalTicket, RunId, RunStatus};

use crate::{
    session::Session,
    terminal::{describe, shown, ticket as shown_ticket},
};

/// What to type to decide about it.
pub(crate) fn commands(session: &Session, run_id: &RunId, ticket: &ApprovalTicket) -> String {
    let ticket = shown::shell_word(&ticket.ticket);
    let typed = |verb| session.typed(&format!("{verb} {run_id} {ticket}"));
    format!("  {}\n  {}", typed("approve"), typed("deny"))
}

/// What a run that was parked waits for, and how to go on.
pub(crate) fn parked(session: &Session, status: &RunStatus) -> String {
    let run_id = &status.run_id;
    let mut text = format!("run {run_id} is {}", describe::waiting(status.state));
    for ticket in &status.approvals {
        text.push_str(&format!(
            "\nticket {}\n{}",
            shown_ticket::describe(ticket),
            commands(session, run_id, ticket)
        ));
    }
    text.push_str(&format!("\nthen go on: {}", session.resume_command(run_id)));
    text
}
