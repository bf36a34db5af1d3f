//! `neuron runs`

use crate::{
    CliError, Exit, args::RunsArgs, engine::newest_runs, runs::served::Servers, runs::table,
    session::Session,
};

pub(crate) async fn runs(session: &Session, args: &RunsArgs) -> Result<Exit, CliError> {
    let engine = session.engine_to_look_at().await?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let filter = args.filter.filter(session.global.agent.as_deref());
    let mut runs = newest_runs(&*engine, &filter, limit).await?;
    let mut servers = Servers::new(session);
    let mut served = Vec::new();
    for status in &mut runs {
        served.push(servers.of(status).await);
    }
    if session.output.is_json() {
        session.output.counts(&runs)?;
        return Ok(Exit::Done);
    }
    for (status, server) in runs.iter().zip(&served) {
        let line = table::run_line(session, status, server);
        session.output.text(&line)?;
    }
    Ok(Exit::Done)
}
