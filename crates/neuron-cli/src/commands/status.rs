//! `neuron status`

use neuron_types::RunId;

use crate::{CliError, Exit, session::Session, table};

pub(crate) async fn status(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let engine = session.engine().await?;
    let status = engine.status(run_id).await?;
    if session.output.is_json() {
        session.output.value(&status)?;
    } else {
        let executing = engine.is_executing(run_id)?;
        session
            .output
            .text(&table::status(session, &status, executing))?;
    }
    Ok(Exit::Done)
}
