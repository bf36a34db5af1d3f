//! `neuron send` and `neuron signal`

use neuron_engine::RunHandle;
use neuron_types::signal::USER_MESSAGE;
use serde_json::{Value, json};

use crate::{
    CliError, Exit,
    args::{SendArgs, SignalArgs},
    runs::follow::is_executing,
    runs::input,
    runs::served,
    session::Session,
    terminal::output::note,
    terminal::shown,
};

pub(crate) async fn send(session: &Session, args: SendArgs) -> Result<Exit, CliError> {
    let text = input::message(args.message)?;
    let run = session.run(&args.run).await?;
    run.send(text).await?;
    tell(session, &run, USER_MESSAGE, "the message").await
}

pub(crate) async fn signal(session: &Session, args: SignalArgs) -> Result<Exit, CliError> {
    let payload = match &args.payload {
        None => Value::Null,
        Some(text) => serde_json::from_str(text).map_err(|source| CliError::NotJson {
            what: "the payload",
            source,
        })?,
    };
    let run = session.run(&args.run).await?;
    run.signal(&args.name, payload).await?;
    let what = format!("signal {}", shown::line(&args.name));
    tell(session, &run, &args.name, &what).await
}

async fn tell(
    session: &Session,
    run: &RunHandle,
    name: &str,
    what: &str,
) -> Result<Exit, CliError> {
    let run_id = run.id();
    let executing = is_executing(run).await?;
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
    if !executing && !session.has_worker().await {
        let to_do = served::to_do(session, run).await;
        note(&format!("no process executes the run now; {to_do}"));
    }
    Ok(Exit::Done)
}
