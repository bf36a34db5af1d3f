//! `neuron events`

use neuron_types::{RecordedEvent, RunId};

use crate::{CliError, Exit, session::Session, terminal::describe, terminal::output::Output};

pub(crate) async fn events(
    session: &Session,
    run_id: &RunId,
    follow: bool,
) -> Result<Exit, CliError> {
    let run = session.run(run_id).await?;
    let mut seen = 0;
    let mut quiet = 0;
    loop {
        // Asked first: what is recorded before the run is over is then in the events.
        let over = !follow || run.status().await?.state.is_final();
        let events = run.events_after(seen).await?;
        quiet = if events.is_empty() { quiet + 1 } else { 0 };
        for event in events {
            show(session.output, &event)?;
            seen = event.seq;
        }
        if over {
            return Ok(Exit::Done);
        }
        tokio::time::sleep(run.client().poll_interval(quiet)).await;
    }
}

fn show(output: Output, event: &RecordedEvent) -> Result<(), CliError> {
    if output.is_json() {
        return output.value(event);
    }
    output.text(&format!(
        "{:>5}  {}  {}",
        event.seq,
        describe::time(event.at),
        describe::sentence(&event.event)
    ))
}
