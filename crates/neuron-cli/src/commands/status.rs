//! `neuron status`

use neuron_types::RunId;

use crate::{CliError, Exit, session::Session, table};

pub(crate) async fn status(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let journal = session.journal_of(run_id).await?;
    let status = journal.status(run_id).await?;
    if session.output.is_json() {
        session.output.value(&status)?;
    } else {
        let executing = journal.is_executing(run_id)?;
        session.output.text(&table::status(&status, executing))?;
    }
    Ok(Exit::Done)
}
