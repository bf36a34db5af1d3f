//! `neuron dev`

use serde_json::{Map, Value};

use crate::{
    CliError, Exit,
    args::EngineName,
    dev::{DevServer, Started},
    interruption::Interruption,
    output::note,
    session::Session,
};

pub(crate) async fn dev(session: &Session) -> Result<Exit, CliError> {
    let servers = match session.global.engine {
        EngineName::Temporal => vec![DevServer::temporal()?],
        EngineName::Restate => vec![DevServer::restate()?],
        EngineName::Local => vec![DevServer::temporal()?, DevServer::restate()?],
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let interruption = Interruption::listen(move || drop(stop)).map_err(CliError::Signals)?;
    let mut started = Started::default();
    let result = tokio::select! {
        result = serve(session, &servers, &mut started) => result,
        _ = stopped => Ok(()),
    };
    started.stop().await;
    result?;
    if interruption.exit().is_some() && !started.is_empty() {
        note("stopped");
    }
    Ok(Exit::Done)
}

/// Starts what does not run yet, says where everything is, and sees to it that it goes on.
async fn serve(
    session: &Session,
    servers: &[DevServer],
    started: &mut Started,
) -> Result<(), CliError> {
    let mut lines = Map::new();
    for server in servers {
        let runs = server.runs().await;
        if !runs {
            started.start(server).await?;
        }
        if session.output.is_json() {
            lines.insert(server.name().to_owned(), server.to_json(!runs));
        } else {
            session.output.text(&server.to_text(!runs))?;
        }
    }
    if session.output.is_json() {
        session.output.value(&Value::Object(lines))?;
    }
    if started.is_empty() {
        return Ok(());
    }
    note("Ctrl-C stops what was started here; runs are kept for the next time");
    Err(started.lost().await)
}
