//! `neuron send` and `neuron signal`

use neuron_types::{RunId, UserMessage, signal::USER_MESSAGE};
use serde_json::{Value, json};

use crate::{
    CliError, Exit,
    args::{SendArgs, SignalArgs},
    engine::Engine,
    input,
    output::note,
    session::Session,
    shown,
};

pub(crate) async fn send(session: &Session, args: SendArgs) -> Result<Exit, CliError> {
    let text = input::message(args.message)?;
    let engine = session.engine().await?;
    engine.send(&args.run, UserMessage { text }).await?;
    tell(session, &engine, &args.run, USER_MESSAGE, "the message")
}

pub(crate) async fn signal(session: &Session, args: SignalArgs) -> Result<Exit, CliError> {
    let payload = match &args.payload {
        None => Value::Null,
        Some(text) => serde_json::from_str(text).map_err(|source| CliError::NotJson {
            what: "the payload",
            source,
        })?,
    };
    let engine = session.engine().await?;
    engine.signal(&args.run, &args.name, payload).await?;
    let what = format!("signal {}", shown::line(&args.name));
    tell(session, &engine, &args.run, &args.name, &what)
}

fn tell(
    session: &Session,
    engine: &Engine,
    run_id: &RunId,
    name: &str,
    what: &str,
) -> Result<Exit, CliError> {
    let executing = engine.is_executing(run_id)?;
    if session.output.is_json() {
        session.output.value(&json!({
            "run_id": run_id,
            "signal": name,
            "accepted": true,
            "executing": executing,
        }))?;
    } else {
        session
            .output
            .text(&format!("{what} is queued for run {run_id}"))?;
    }
    if !executing {
        note(&format!(
            "nobody executes the run now; go on with it: {}",
            session.resume_command(run_id)
        ));
    }
    Ok(Exit::Done)
}
