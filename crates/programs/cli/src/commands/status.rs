//! `neuron status`

use neuron_types::RunId;

use crate::{CliError, Exit, runs::served::Servers, runs::table, session::Session};

pub(crate) async fn status(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let mut status = session.run_to_look_at(run_id).await?.status().await?;
    let server = Servers::new(session).of(&mut status).await;
    if session.output.is_json() {
        session.output.counts(&status)?;
    } else {
        session
            .output
            .text(&table::status(session, &status, &server))?;
    }
    Ok(Exit::Done)
}
