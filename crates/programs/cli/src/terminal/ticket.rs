//! A ticket as a person reads it.

use neuron_types::ApprovalTicket;
use serde_json::Value;

use super::{call, describe, shown};

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
