//! `neuron run`

use std::path::Path;

use neuron_runtime::{AgentFile, ProcessEnvironment};

use crate::{
    CliError, Exit,
    args::{EngineName, RunHereArgs},
    execution,
    order::Order,
    person::Person,
    session::Session,
};

pub(crate) async fn run(session: &Session, args: RunHereArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::RunElsewhere { engine });
    }
    // Before the prompt, which may be long in coming.
    let mut file = session.agent_file()?;
    let cwd = session.cwd()?;
    let person = Person::introduce(&mut file);
    let agents = [&session.global.agent];
    let servers = file.start_mcp(agents, &cwd, &ProcessEnvironment).await?;
    let ran = start(session, &file, &cwd, args, &person).await;
    servers.stop().await;
    ran
}

async fn start(
    session: &Session,
    file: &AgentFile,
    cwd: &Path,
    args: RunHereArgs,
    person: &Person,
) -> Result<Exit, CliError> {
    let agent = file.agent(&session.global.agent)?;
    let executor = file.executor(&agent, cwd, &ProcessEnvironment)?;
    let Order { run_id, input } = Order::read(file, agent, args.run)?;
    let journal = session.journal().await?;
    journal
        .create_run(&run_id, &input, EngineName::Local.as_str())
        .await?;
    let agent = &input.agent;
    let roll_over = &args.roll_over;
    execution::execute(
        session, &journal, &run_id, agent, executor, roll_over, person,
    )
    .await
}
