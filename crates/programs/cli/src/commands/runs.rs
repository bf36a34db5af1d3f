//! `neuron runs`

use crate::{CliError, Exit, args::RunsArgs, engine::newest_runs, runs::table, session::Session};

pub(crate) async fn runs(session: &Session, args: &RunsArgs) -> Result<Exit, CliError> {
    let engine = session.engine_to_look_at().await?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let filter = args.filter.filter(session.global.agent.as_deref());
    let runs = newest_runs(&*engine, &filter, limit).await?;
    if session.output.is_json() {
        session.output.value(&runs)?;
        return Ok(Exit::Done);
    }
    for status in runs {
        session.output.text(&table::run_line(session, &status))?;
    }
    Ok(Exit::Done)
}
