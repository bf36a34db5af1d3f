//! `neuron events`

use neuron_types::RecordedEvent;

use crate::{
    CliError, Exit,
    args::EventsArgs,
    runs::{
        follow::{is_executing, is_left},
        outcome, tree_events,
    },
    session::Session,
    terminal::describe,
    terminal::output::{Output, note},
};

pub(crate) async fn events(session: &Session, args: &EventsArgs) -> Result<Exit, CliError> {
    let run = session.run_to_look_at(&args.run).await?;
    let follow = args.follow;
    if args.tree {
        return tree_events::show(session, &run, follow).await;
    }
    let mut seen = 0;
    let mut quiet = 0;
    let mut left = 0;
    let mut last = None;
    loop {
        // This is asked first, so that events recorded before the run is over, or left, are among those read below.
        let executing = !follow || is_executing(&run).await?;
        let status = if follow {
            Some(run.status().await?)
        } else {
            None
        };
        let over = status.as_ref().is_none_or(|status| status.state.is_final());
        // Every event changes the status, and looking for events costs more.
        let is_unchanged = follow && !over && last == status;
        let events = match is_unchanged {
            true => Vec::new(),
            false => run.events_after(seen).await?,
        };
        quiet = if events.is_empty() { quiet + 1 } else { 0 };
        for event in events {
            show(session.output, &event)?;
            seen = event.seq;
        }
        if over {
            return Ok(Exit::Done);
        }
        left = if executing { 0 } else { left + 1 };
        if let Some(status) = &status
            && is_left(session, status, left).await
        {
            note(&outcome::left(session, status).await);
            return Ok(Exit::Waits);
        }
        last = status;
        tokio::time::sleep(run.client().poll_interval(quiet)).await;
    }
}

fn show(output: Output, event: &RecordedEvent) -> Result<(), CliError> {
    if output.is_json() {
        return output.value(event);
    }
    output.text(&describe::recorded(event))
}
