//! Open tickets, and what to type about them.

use neuron_types::{ApprovalTicket, RunId, RunStatus};
use serde_json::Value;

use crate::{
    session::Session,
    terminal::{call, describe, shown},
};

/// A ticket in a few lines: the whole call, why somebody is asked, and until when.
pub(crate) fn describe(ticket: &ApprovalTicket) -> String {
    let subject = if is_long(&ticket.args) {
        let lines = subject(ticket);
        let lines = lines.iter().map(|line| format!("\n    {line}"));
        format!("{}{}", shown::line(&ticket.tool), lines.collect::<String>())
    } else {
        shown::whole_call(&ticket.tool, &ticket.args)
    };
    let id = shown::line(&ticket.ticket);
    format!("{id}: {subject}\n{}", details(ticket))
}

/// What a person decides about, line by line: nothing is cut.
pub(crate) fn subject(ticket: &ApprovalTicket) -> Vec<String> {
    call::lines(&ticket.tool, &ticket.args)
}

/// Whether arguments have a text of several lines: nobody can read that on one.
fn is_long(args: &Value) -> bool {
    match args {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(is_long),
        Value::Object(fields) => fields.values().any(is_long),
        _ => false,
    }
}

/// What there is to know of a ticket beside the call, a line each.
pub(crate) fn details(ticket: &ApprovalTicket) -> String {
    let mut text = format!("  reason: {}", shown::line(&ticket.reason));
    if let Some(at) = ticket.expires_at {
        text.push_str(&format!("\n  expires: {}", describe::time(at)));
    }
    text
}

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
            describe(ticket),
            commands(session, run_id, ticket)
        ));
    }
    text.push_str(&format!("\nthen go on: {}", session.resume_command(run_id)));
    text
}
