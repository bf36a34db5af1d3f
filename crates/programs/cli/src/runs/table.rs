//! Runs and statuses as text for people.

use neuron_types::{Blocked, BlockedKind, ChildStatus, RunPhase, RunStatus};

use crate::{
    runs::served::Server, runs::tickets, session::Session, terminal::describe, terminal::shown,
    terminal::ticket as shown_ticket,
};

/// The longest model text on a line of `neuron runs`, in characters.
const SHORT: usize = 60;

/// Returns one line of `neuron runs`: what holds a run up, otherwise the model's last text.
pub(crate) fn run_line(session: &Session, status: &RunStatus, server: &Server) -> String {
    let held_up = status.blocked.as_ref();
    let held_up = held_up.filter(|blocked| !blocked.kind.is_ticket());
    let last = match (held_up, &status.last_message) {
        (Some(blocked), _) if blocked.kind == BlockedKind::NoProcess => match server {
            Server::Program { .. } => server.to_do(session, &status.run_id),
            _ => session.resume_command(&status.run_id),
        },
        (Some(blocked), _) => blocked.detail.clone(),
        (None, last) => last.clone().unwrap_or_default(),
    };
    let line = format!(
        "{}  {:<20}  {}  turn {:<3}  {}  {}",
        status.run_id,
        status.state.as_str(),
        describe::time(status.updated_at),
        status.turn,
        shown::line(&status.agent),
        shown::short_line(&last, SHORT)
    );
    line.trim_end().to_owned()
}

/// Returns the output of `neuron status` for people.
pub(crate) fn status(session: &Session, status: &RunStatus, server: &Server) -> String {
    let mut lines = vec![
        format!("run      {}", status.run_id),
        format!("agent    {}", shown::line(&status.agent)),
        format!("engine   {}", shown::line(&status.engine)),
        format!("state    {}", status.state),
        format!("turn     {}", status.turn),
        format!("usage    {}", describe::tokens(&status.usage)),
        format!("cost     {}", cost(status)),
        format!("started  {}", describe::time(status.started_at)),
        format!("updated  {}", describe::time(status.updated_at)),
    ];
    for (name, tag) in [("tenant", &status.tenant), ("owner", &status.owner)] {
        if let Some(tag) = tag {
            lines.push(format!("{name:<9}{}", shown::line(tag)));
        }
    }
    for (key, value) in &status.labels {
        lines.push(format!(
            "label    {}",
            shown::line(&format!("{key}={value}"))
        ));
    }
    if let Some(error) = &status.error {
        let message = shown::line(&error.message);
        lines.push(format!("error    {}: {message}", error.kind));
    }
    // Tickets have lines of their own.
    let blocked = status.blocked.as_ref();
    if let Some(blocked) = blocked.filter(|blocked| !blocked.kind.is_ticket()) {
        lines.push(format!(
            "blocked  {}",
            held_up(session, status, blocked, server)
        ));
    }
    for child in &status.children {
        let ChildStatus {
            run_id,
            agent,
            state,
            ..
        } = child;
        lines.push(format!("child    {run_id}  {agent}  {state}"));
    }
    if let Some(last) = &status.last_message {
        lines.push(format!(
            "message  {}",
            shown::text(last).replace('\n', "\n         ")
        ));
    }
    for ticket in &status.approvals {
        lines.push(format!("ticket   {}", shown_ticket::describe(ticket)));
        // An interrupted run receives the decisions about its tickets when it continues.
        if status.state != RunPhase::Interrupted {
            lines.push(tickets::commands(session, &status.run_id, ticket));
        }
    }
    lines.join("\n")
}

/// Returns what holds a run up besides tickets, and what to do about it.
fn held_up(session: &Session, status: &RunStatus, blocked: &Blocked, server: &Server) -> String {
    let detail = shown::line(&blocked.detail);
    let attempt = blocked
        .attempt
        .map(|attempt| format!(", attempt {attempt}"));
    let next = blocked
        .next_at
        .map(|at| format!(", the next at {}", describe::time(at)));
    let to_do = match (blocked.kind, server) {
        // The detail contains the advice.
        (_, Server::Program { .. }) => None,
        (BlockedKind::NoProcess, server) => {
            let to_do = server.to_do(session, &status.run_id);
            let worker = match server {
                Server::Command => ", or start `neuron worker`",
                _ => "",
            };
            Some(format!("; {to_do}{worker}"))
        }
        _ => None,
    };
    let since = describe::time(blocked.since);
    let [attempt, next, to_do] = [attempt, next, to_do].map(Option::unwrap_or_default);
    format!("{detail}, since {since}{attempt}{next}{to_do}")
}

fn cost(status: &RunStatus) -> String {
    status
        .cost_usd
        .map_or_else(|| "not known".to_owned(), describe::cost)
}
