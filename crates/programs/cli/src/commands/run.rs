//! `neuron run`

use neuron_config::OpenAgents;
use neuron_types::Overrides;

use crate::{
    CliError, Exit,
    args::{EngineName, RunHereArgs},
    questions::person::Person,
    runs::changes,
    runs::execution,
    runs::order::Order,
    session::Session,
    terminal::output::note,
};

pub(crate) async fn run(session: &Session, args: RunHereArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::RunElsewhere { engine });
    }
    let session = &session.signing(&args.sign);
    // Before the prompt, which may be long in coming.
    let file = session.agent_file().await?;
    let options = session.open_options()?.agents([session.global.agent()]);
    let (options, person) = Person::introduce(options);
    let agents = file.open(options).await?;
    let ran = start(session, &agents, args, &person).await;
    agents.stop().await;
    ran
}

async fn start(
    session: &Session,
    agents: &OpenAgents,
    args: RunHereArgs,
    person: &Person,
) -> Result<Exit, CliError> {
    let agent = agents.agent(session.global.agent())?;
    let agent = changes::narrowed_here(&agent, &args.run.changes.overrides())?;
    let executor = agents.executor(&agent)?;
    let order = Order::read(args.run)?;
    if agents.is_demo(&agent) {
        note(
            "the demo model answers, which is a small program and no language model: set \
             OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
        );
    }
    let journal = session.journal().await?;
    let run_id = order.run_id.clone();
    let request = order.request(agent.clone(), Overrides::default());
    let directory = session.directory()?;
    journal
        .create_run_in(&directory, &run_id, request, EngineName::Local.as_str())
        .await?;
    let segment = &args.segment;
    execution::execute(
        session, &journal, &run_id, &agent, executor, segment, person,
    )
    .await
}
