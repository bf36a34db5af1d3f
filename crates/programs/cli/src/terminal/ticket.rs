//! A ticket in a form for people.

use neuron_types::{Always, Ticket, TicketKind};
use serde_json::Value;

use super::{call, describe, shown};

/// Returns a ticket in a few lines: the whole call, why a person is asked, and until when.
pub(crate) fn describe(ticket: &Ticket) -> String {
    let subject = match &ticket.tool {
        Some(tool) if ticket.diff.is_none() && !is_long(ticket.args_or_null()) => {
            shown::whole_call(tool, ticket.args_or_null())
        }
        _ => {
            let lines = subject(ticket);
            let lines = lines.iter().map(|line| format!("\n    {line}"));
            let what = shown::line(ticket.subject()).into_owned();
            format!("{what}{}", lines.collect::<String>())
        }
    };
    let id = shown::line(&ticket.ticket);
    format!("{id}: {subject}\n{}", details(ticket))
}

/// Returns the subject of the decision, line by line: nothing is cut.
pub(crate) fn subject(ticket: &Ticket) -> Vec<String> {
    match &ticket.tool {
        Some(tool) => call::lines_with(tool, ticket.args_or_null(), ticket.diff.as_deref()),
        None => said(ticket),
    }
}

/// Returns the question, or the tool's own description, line by line.
fn said(ticket: &Ticket) -> Vec<String> {
    let text = ticket.text.as_deref().unwrap_or_default();
    call::text_lines(text)
}

/// Returns whether arguments have a text of several lines, which is unreadable on one line.
fn is_long(args: &Value) -> bool {
    match args {
        Value::String(text) => text.contains('\n'),
        Value::Array(items) => items.iter().any(is_long),
        Value::Object(fields) => fields.values().any(is_long),
        _ => false,
    }
}

/// Returns the details of a ticket besides the call, a line each.
pub(crate) fn details(ticket: &Ticket) -> String {
    let mut text = format!("  reason: {}", shown::line(&ticket.reason));
    let mut add = |name: &str, value: &str| {
        text.push_str(&format!("\n  {name}: {}", shown::line(value)));
    };
    if ticket.kind != TicketKind::Call {
        add("kind", ticket.kind.as_str());
    }
    if ticket.tool.is_some() {
        for line in said(ticket) {
            add("says", &line);
        }
    }
    if !ticket.choices.is_empty() {
        add("choices", &ticket.choices.join(", "));
    }
    let prefix = ticket.prefix.as_deref();
    if let Some(prefix) = prefix.filter(|_| ticket.takes_always(Always::Prefix).is_ok()) {
        add("prefix", prefix);
    }
    if let Some(from) = &ticket.from {
        add("from", from);
    }
    if ticket.needed > 1 {
        let names = ticket.decisions.iter();
        let names = names.filter_map(|given| given.name.as_deref());
        let names: Vec<&str> = names.collect();
        let so_far = match names.as_slice() {
            [] => String::new(),
            names => format!(" (so far {})", names.join(", ")),
        };
        add("needed", &format!("{}{so_far}", ticket.needed));
    }
    for args in ticket
        .decisions
        .iter()
        .filter_map(|given| given.args.as_ref())
        .take(1)
    {
        add("approved with", &args.to_string());
    }
    if let Some(at) = ticket.expires_at {
        text.push_str(&format!("\n  expires: {}", describe::time(at)));
    }
    text
}
