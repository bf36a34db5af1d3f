//! `neuron resume`

use neuron_runtime::{JournalError, ProcessEnvironment};

use crate::{
    CliError, Exit,
    args::{EngineName, ResumeArgs},
    execution, outcome,
    person::Person,
    session::Session,
};

pub(crate) async fn resume(session: &Session, args: &ResumeArgs) -> Result<Exit, CliError> {
    let run_id = &args.of.run;
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::ResumeElsewhere { engine });
    }
    let journal = session.journal_if_any().await?;
    let unknown = || JournalError::UnknownRun {
        run_id: run_id.clone(),
    };
    let journal = journal.ok_or_else(unknown)?;
    if let Some(output) = journal.output(run_id).await? {
        return outcome::over(session, &output, None);
    }
    let agent = journal.load_input(run_id).await?.agent;
    let mut file = session.agent_file()?;
    let person = Person::introduce(&mut file);
    let cwd = session.cwd()?;
    let servers = file
        .start_mcp_for(&agent, &cwd, &ProcessEnvironment)
        .await?;
    let ran = match file.executor(&agent, &cwd, &ProcessEnvironment) {
        Ok(executor) => {
            let roll_over = &args.roll_over;
            execution::execute(
                session, &journal, run_id, &agent, executor, roll_over, &person,
            )
            .await
        }
        Err(error) => Err(error.into()),
    };
    servers.stop().await;
    ran
}
