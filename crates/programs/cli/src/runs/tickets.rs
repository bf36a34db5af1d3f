//! Open tickets, and what to type about them.

use neuron_types::{RunId, RunStatus, Ticket, TicketKind};

use crate::{
    runs::served::Server,
    session::Session,
    terminal::{describe, shown, ticket as shown_ticket},
};

/// Returns what to type to decide about a ticket.
pub(crate) fn commands(session: &Session, run_id: &RunId, ticket: &Ticket) -> String {
    let id = shown::shell_word(&ticket.ticket);
    let typed = |verb: &str, rest: &str| {
        let line = session.typed(&format!("{verb} {run_id} {id}{rest}"));
        format!("  {line}")
    };
    let lines = match ticket.kind {
        TicketKind::Call => vec![typed("approve", ""), typed("deny", "")],
        TicketKind::Question => vec![typed("answer", " TEXT"), typed("deny", "")],
        TicketKind::Form => vec![typed("answer", " JSON"), typed("deny", "")],
        TicketKind::External => vec![typed("complete", " JSON --token TOKEN"), typed("deny", "")],
        TicketKind::Failure
        | TicketKind::Budget
        | TicketKind::UnknownOutcome
        | TicketKind::Guard => ticket
            .choices
            .iter()
            .map(|choice| typed("decide", &format!(" {}", shown::shell_word(choice))))
            .collect(),
    };
    lines.join("\n")
}

/// Returns what a parked run waits for, and how to continue it.
pub(crate) fn parked(session: &Session, status: &RunStatus, server: &Server) -> String {
    let run_id = &status.run_id;
    let mut text = format!("run {run_id} is {}", describe::waiting(status.state));
    for ticket in &status.approvals {
        text.push_str(&format!(
            "\nticket {}\n{}",
            shown_ticket::describe(ticket),
            commands(session, run_id, ticket)
        ));
    }
    text.push_str(&match server {
        Server::Program { .. } => format!("\nthen {}", server.to_do(session, run_id)),
        _ => format!(
            "\nthen continue it with: {}",
            session.resume_command(run_id)
        ),
    });
    text
}
