//! `neuron submit`

use neuron_runtime::ProcessEnvironment;
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
    let mut file = session.agent_file()?;
    // What MCP servers offer now is what the run has: it is part of the run's input.
    let agents = [&session.global.agent];
    let servers = file
        .start_mcp(agents, &session.cwd()?, &ProcessEnvironment)
        .await?;
    let agent = file.agent(&session.global.agent);
    servers.stop().await;
    let agent = agent?;
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
