//! `neuron resume`

use neuron_local::JournalError;
use neuron_types::{AgentRef, AgentSpec, RunInput};

use crate::{
    CliError, Exit,
    args::{EngineName, ResumeArgs},
    questions::person::Person,
    runs::execution::{self, Means, Upcoming},
    runs::outcome,
    runs::place,
    runs::served,
    runs::signals::Signals,
    runs::stored,
    runs::worker_source::WorkerSource,
    session::Session,
};

pub(crate) async fn resume(session: &Session, args: &ResumeArgs) -> Result<Exit, CliError> {
    let run_id = &args.of.run;
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::ResumeElsewhere { engine });
    }
    let session = &session.signing(&args.sign);
    let journal = session.journal_if_any().await?;
    let unknown = || JournalError::UnknownRun {
        run_id: run_id.clone(),
    };
    let journal = journal.ok_or_else(unknown)?;
    if let Some(output) = journal.output(run_id).await? {
        stored::take_in_or_say(session, run_id).await;
        return outcome::over(session, &output, None);
    }
    let request = journal.load_request(run_id).await?;
    let was_upgraded = journal.was_upgraded(run_id).await?;
    let moved_from = match args.here {
        true => journal.directory(run_id).await?,
        false => None,
    };
    let directory = journal.directory(run_id).await?;
    let looking = match args.here {
        true => &session.here(),
        false => session,
    };
    served::check(looking, run_id, &request.agent, directory.as_deref())?;
    let session = &place::go(session, &journal, run_id, args.here).await?;
    let file = session.agent_file().await?;
    let options = session.open_options()?;
    let options = match &request.agent {
        AgentRef::Name(name) => options.agents([name]),
        AgentRef::Definition(agent) if was_upgraded => options.adopted_definition(agent),
        AgentRef::Definition(agent) => options.definition(agent),
    };
    let (options, person) = Person::introduce(options);
    // The signals come before the MCP servers, which have to end with the command.
    let signals = Signals::listen()?;
    let agents = match signals.unless(file.clone().open(options)).await {
        Ok(opened) => opened?,
        Err(interrupted) => return Ok(interrupted),
    };
    // An agent that is not in the file any more cannot be adopted.
    let current = agents.agent(request.agent.name()).ok();
    let found = match &request.agent {
        AgentRef::Name(name) => agents.agent(name),
        AgentRef::Definition(agent) => Ok(AgentSpec::clone(agent)),
    };
    let made = found.and_then(|found| {
        let RunInput { agent, .. } = request.with_agent(found);
        let wanted = current.as_ref().filter(|_| was_upgraded);
        let adopted = wanted.and_then(|current| agents.executor(current).ok());
        let executor = adopted.map_or_else(|| agents.executor(&agent), Ok)?;
        // A person who moves a run wants the decisions about it to apply where it continues.
        Ok((
            match &moved_from {
                Some(directory) => executor.moved_from(directory),
                None => executor,
            },
            agent,
        ))
    });
    let ran = match made {
        Ok((executor, agent)) => {
            let segment = &args.segment;
            let upcoming = Upcoming {
                journal: &journal,
                run_id,
                claim: None,
                signals: &signals,
            };
            let means = Means {
                agent: &agent,
                agents: current.into_iter().collect(),
                executor,
                below: WorkerSource::new(file, session.open_options()?, session.directory()?),
            };
            execution::execute(session, upcoming, means, segment, &person).await
        }
        Err(error) => Err(error.into()),
    };
    agents.stop().await;
    stored::take_in_or_say(session, run_id).await;
    ran
}
