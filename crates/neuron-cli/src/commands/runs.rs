//! `neuron runs`

use crate::{CliError, Exit, session::Session, table};

pub(crate) async fn runs(session: &Session, limit: u32) -> Result<Exit, CliError> {
    let Some(journal) = session.journal_if_any().await? else {
        if session.output.is_json() {
            session.output.value(&[(); 0])?;
        }
        return Ok(Exit::Done);
    };
    let runs = journal.runs(limit).await?;
    if session.output.is_json() {
        session.output.value(&runs)?;
        return Ok(Exit::Done);
    }
    for status in runs {
        let executing = journal.is_executing(&status.run_id)?;
        session.output.text(&table::run_line(&status, executing))?;
    }
    Ok(Exit::Done)
}
