//! `neuron status`

use neuron_types::RunId;

use crate::{CliError, Exit, runs::table, session::Session};

pub(crate) async fn status(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let status = session.run_to_look_at(run_id).await?.status().await?;
    if session.output.is_json() {
        session.output.value(&status)?;
    } else {
        session.output.text(&table::status(session, &status))?;
    }
    Ok(Exit::Done)
}
