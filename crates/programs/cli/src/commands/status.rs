//! `neuron status`

use neuron_types::RunId;

use crate::{CliError, Exit, runs::follow::is_executing, runs::table, session::Session};

pub(crate) async fn status(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let run = session.run(run_id).await?;
    let status = run.status().await?;
    if session.output.is_json() {
        session.output.value(&status)?;
    } else {
        let executing = is_executing(&run).await?;
        session
            .output
            .text(&table::status(session, &status, executing))?;
    }
    Ok(Exit::Done)
}
