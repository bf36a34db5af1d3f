//! `neuron submit`

use serde_json::json;

use crate::{
    CliError, Exit,
    args::{EngineName, SubmitArgs},
    commands::wait,
    execution,
    order::Order,
    session::Session,
};

pub(crate) async fn submit(session: &Session, args: SubmitArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine == EngineName::Local {
        return Err(CliError::SubmitHere);
    }
    // Both before the prompt, which may be long in coming.
    let file = session.agent_file()?;
    let agent = file.agent(&session.global.agent)?;
    let opened = session.engine().await?;
    let Order { run_id, input } = Order::read(&file, agent, args.run)?;
    if args.wait {
        execution::introduce(&run_id, &input.agent);
        opened.start(&run_id, input).await?;
        return wait::to_the_end(session, &opened, &run_id, Some(0)).await;
    }
    opened.start(&run_id, input).await?;
    if session.output.is_json() {
        let value = json!({ "run_id": run_id, "engine": engine.as_str(), "state": "running" });
        session.output.value(&value)?;
    } else {
        session.output.text(run_id.as_str())?;
    }
    Ok(Exit::Done)
}
