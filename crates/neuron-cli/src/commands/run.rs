//! `neuron run`

use neuron_runtime::ProcessEnvironment;

use crate::{
    CliError, Exit,
    args::{EngineName, RunArgs},
    execution,
    order::Order,
    session::Session,
};

pub(crate) async fn run(session: &Session, args: RunArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::RunElsewhere { engine });
    }
    // Before the prompt, which may be long in coming.
    let file = session.agent_file()?;
    let agent = file.agent(&session.global.agent)?;
    let executor = file.executor(&agent, session.cwd()?, &ProcessEnvironment)?;
    let Order { run_id, input } = Order::read(&file, agent, args)?;
    let journal = session.journal().await?;
    journal
        .create_run(&run_id, &input, EngineName::Local.as_str())
        .await?;
    execution::execute(session, &journal, &run_id, input, executor).await
}
