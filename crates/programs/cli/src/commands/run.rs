//! `neuron run`

use std::io;

use neuron_config::OpenAgents;
use neuron_executor::ClientSpan;
use neuron_types::{Overrides, RunRequest};
use tokio::task::spawn_blocking;

use crate::{
    CliError, Exit,
    args::{EngineName, RunHereArgs},
    questions::person::Person,
    runs::changes,
    runs::execution::{self, Means, Upcoming},
    runs::order::{Order, trace_around},
    runs::signals::Signals,
    runs::worker_source::WorkerSource,
    session::Session,
    terminal::output::note,
};

pub(crate) async fn run(session: &Session, args: RunHereArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::RunElsewhere { engine });
    }
    let session = &session.signing(&args.sign);
    // The file comes before the prompt, which may take long.
    let file = session.agent_file().await?;
    session.check_home().await?;
    let options = session.open_options()?.agents([session.global.agent()]);
    let (options, person) = Person::introduce(options);
    // The signals come before the MCP servers, which have to end with the command.
    let signals = Signals::listen()?;
    let agents = match signals.unless(file.clone().open(options)).await {
        Ok(opened) => opened?,
        Err(interrupted) => return Ok(interrupted),
    };
    let below = WorkerSource::new(file, session.open_options()?, session.directory()?);
    let ran = start(session, &agents, below, args, &person, &signals).await;
    agents.stop().await;
    ran
}

async fn start(
    session: &Session,
    agents: &OpenAgents,
    below: WorkerSource,
    args: RunHereArgs,
    person: &Person,
    signals: &Signals,
) -> Result<Exit, CliError> {
    let current = agents.agent(session.global.agent())?;
    let overrides = args.run.changes.overrides();
    let agent = changes::narrowed_here(&current, &overrides)?;
    let executor = agents.executor(&agent)?;
    let run = args.run;
    // A signal ends the command also while it waits for the prompt.
    let reading = spawn_blocking(move || Order::read(run));
    let order = match signals.unless(reading).await {
        Ok(read) => read.map_err(|lost| CliError::Threads(io::Error::other(lost)))??,
        Err(interrupted) => return Ok(interrupted),
    };
    if agents.is_demo(&agent) {
        note(
            "the demo model answers, which is a small program and not a language model: set \
             OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
        );
    }
    let journal = session.journal().await?;
    let run_id = order.run_id.clone();
    let (stored, preamble) = order.take_session(session).await?;
    let client = ClientSpan::begin(&agent.name, trace_around());
    let request = RunRequest {
        trace: client.context(),
        origin: Some(changes::origin_here(overrides)),
        preamble,
        ..order.request(agent.clone(), Overrides::default())
    };
    let directory = session.directory()?;
    // With the claim no worker may take the run up before this process does.
    let claim = journal
        .claim_run(&directory, &run_id, request, EngineName::Local.as_str())
        .await;
    drop(client);
    let claim = match (claim, &stored) {
        (Err(error), Some(stored)) => {
            stored.not_started(session, true).await?;
            return Err(error.into());
        }
        (claim, _) => claim?,
    };
    let upcoming = Upcoming {
        journal: &journal,
        run_id: &run_id,
        claim: Some(claim),
        signals,
    };
    let segment = &args.segment;
    let means = Means {
        agent: &agent,
        agents: [current].into_iter().collect(),
        executor,
        below,
    };
    let exit = execution::execute(session, upcoming, means, segment, person).await?;
    if let Some(stored) = stored {
        stored.settle(session).await?;
    }
    Ok(exit)
}
