//! `neuron events`

use neuron_types::{RecordedEvent, RunId};

use crate::{CliError, Exit, describe, output::Output, session::Session, table};

pub(crate) async fn events(
    session: &Session,
    run_id: &RunId,
    follow: bool,
) -> Result<Exit, CliError> {
    let engine = session.engine().await?;
    let mut seen = 0;
    let mut quiet = 0;
    loop {
        // Asked first: what is recorded before the run is over is then in the events.
        let over = !follow || engine.status(run_id).await?.state.is_final();
        let events = engine.events(run_id, seen).await?;
        quiet = if events.is_empty() { quiet + 1 } else { 0 };
        for event in events {
            show(session.output, &event)?;
            seen = event.seq;
        }
        if over {
            return Ok(Exit::Done);
        }
        tokio::time::sleep(engine.poll(quiet)).await;
    }
}

fn show(output: Output, event: &RecordedEvent) -> Result<(), CliError> {
    if output.is_json() {
        return output.value(event);
    }
    output.text(&format!(
        "{:>5}  {}  {}",
        event.seq,
        table::time(event.at),
        describe::sentence(&event.event)
    ))
}
