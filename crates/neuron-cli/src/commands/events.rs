//! `neuron events`

use neuron_types::{RecordedEvent, RunId};

use crate::{CliError, Exit, describe, follow::POLL, output::Output, session::Session, table};

pub(crate) async fn events(
    session: &Session,
    run_id: &RunId,
    follow: bool,
) -> Result<Exit, CliError> {
    let journal = session.journal_of(run_id).await?;
    let mut seen = 0;
    loop {
        // Asked first: what is recorded before the run is over is then in the events.
        let over = journal.status(run_id).await?.state.is_final();
        for event in journal.events(run_id, seen).await? {
            show(session.output, &event)?;
            seen = event.seq;
        }
        if over || !follow {
            return Ok(Exit::Done);
        }
        tokio::time::sleep(POLL).await;
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
