//! Runs and statuses as text for people.

use neuron_types::{RunPhase, RunStatus};

use crate::{
    runs::tickets, session::Session, terminal::blocked, terminal::describe, terminal::shown,
    terminal::ticket as shown_ticket,
};

/// The longest model text on a line of `neuron runs`, in characters.
const SHORT: usize = 60;

/// Where a run stands, and whether that is all that happens: a run that should go on and that nobody
/// executes was cut off.
pub(crate) fn state(status: &RunStatus, executing: bool) -> String {
    match status.state {
        RunPhase::Running | RunPhase::Sleeping if !executing => "interrupted".to_owned(),
        state => state.to_string(),
    }
}

/// One line of `neuron runs`.
pub(crate) fn run_line(status: &RunStatus, executing: bool) -> String {
    let last = status.last_message.as_deref().unwrap_or_default();
    let line = format!(
        "{}  {:<20}  {}  turn {:<3}  {}  {}",
        status.run_id,
        state(status, executing),
        describe::time(status.updated_at),
        status.turn,
        shown::line(&status.agent),
        shown::short_line(last, SHORT)
    );
    line.trim_end().to_owned()
}

/// `neuron status` for people.
pub(crate) fn status(session: &Session, status: &RunStatus, executing: bool) -> String {
    let mut lines = vec![
        format!("run      {}", status.run_id),
        format!("agent    {}", shown::line(&status.agent)),
        format!("engine   {}", shown::line(&status.engine)),
        format!("state    {}", state(status, executing)),
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
    let held_up = status.blocked.as_ref();
    if let Some(held_up) = held_up.filter(|blocked| !blocked.kind.is_ticket()) {
        lines.push(format!("blocked  {}", blocked::line(held_up)));
    }
    for child in &status.children {
        lines.push(format!("child    {child}"));
    }
    if let Some(last) = &status.last_message {
        lines.push(format!(
            "message  {}",
            shown::text(last).replace('\n', "\n         ")
        ));
    }
    for ticket in &status.approvals {
        lines.push(format!("ticket   {}", shown_ticket::describe(ticket)));
        lines.push(tickets::commands(session, &status.run_id, ticket));
    }
    lines.join("\n")
}

fn cost(status: &RunStatus) -> String {
    status
        .cost_usd
        .map_or_else(|| "not known".to_owned(), describe::cost)
}
