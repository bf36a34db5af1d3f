//! `neuron submit`

use neuron_engine::RunHandle;
use neuron_types::RunRequest;
use serde_json::json;

use crate::{
    CliError, Exit,
    args::{EngineName, SubmitArgs},
    commands::wait,
    runs::order::Order,
    session::Session,
    terminal::output::note,
    terminal::shown,
};

pub(crate) async fn submit(session: &Session, args: SubmitArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine == EngineName::Local {
        return Err(CliError::SubmitHere);
    }
    // Before the prompt, which may be long in coming.
    let opened = session.engine().await?;
    let Order { run_id, prompt } = Order::read(args.run)?;
    // What the agent is, its worker knows.
    let agent = session.global.agent.as_str();
    let request = RunRequest::new(agent, prompt);
    if args.wait {
        note(&format!("run {run_id}: agent {}", shown::line(agent)));
        let run = RunHandle::start(opened, run_id, request).await?;
        return wait::to_the_end(session, &run, Some(0)).await;
    }
    opened.start(&run_id, request).await?;
    if session.output.is_json() {
        let value = json!({ "run_id": run_id, "engine": engine.as_str(), "state": "running" });
        session.output.value(&value)?;
    } else {
        session.output.text(run_id.as_str())?;
    }
    Ok(Exit::Done)
}
