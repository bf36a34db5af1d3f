//! `neuron dev`

use neuron_worker::Interruption;
use serde_json::{Map, Value};

use crate::{
    CliError, Exit,
    dev::{DevServer, Started},
    session::Session,
    terminal::output::note,
};

pub(crate) async fn dev(session: &Session) -> Result<Exit, CliError> {
    let servers = DevServer::all_of(session.global.engine)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let interruption = Interruption::listen(move || drop(stop)).map_err(CliError::Signals)?;
    let mut started = Started::default();
    let result = tokio::select! {
        result = serve(session, &servers, &mut started) => result,
        _ = stopped => Ok(()),
    };
    started.stop().await;
    result?;
    if interruption.signal().is_some() && !started.is_empty() {
        note("stopped");
    }
    Ok(Exit::Done)
}

/// Starts the servers that do not run yet, prints where everything is, and watches that they keep running.
async fn serve(
    session: &Session,
    servers: &[DevServer],
    started: &mut Started,
) -> Result<(), CliError> {
    let mut lines = Map::new();
    for server in servers {
        let log = match server.runs().await {
            true => None,
            false => Some(started.start(server, session).await?),
        };
        if session.output.is_json() {
            lines.insert(server.name().to_owned(), server.to_json(log.as_deref()));
        } else {
            session.output.text(&server.to_text(log.as_deref()))?;
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
