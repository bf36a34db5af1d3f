//! `neuron runs`

use crate::{CliError, Exit, session::Session, table};

pub(crate) async fn runs(session: &Session, limit: u32) -> Result<Exit, CliError> {
    let engine = session.engine().await?;
    let runs = engine.runs(limit).await?;
    if session.output.is_json() {
        session.output.value(&runs)?;
        return Ok(Exit::Done);
    }
    for status in runs {
        let executing = engine.is_executing(&status.run_id)?;
        session.output.text(&table::run_line(&status, executing))?;
    }
    Ok(Exit::Done)
}
