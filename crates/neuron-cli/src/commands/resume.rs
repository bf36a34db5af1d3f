//! `neuron resume`

use neuron_runtime::{JournalError, ProcessEnvironment};
use neuron_types::RunId;

use crate::{CliError, Exit, args::EngineName, execution, outcome, session::Session};

pub(crate) async fn resume(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
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
        return outcome::over(session, &output);
    }
    let input = journal.load_input(run_id).await?;
    let file = session.agent_file()?;
    let executor = file.executor(&input.agent, session.cwd()?, &ProcessEnvironment)?;
    execution::execute(session, &journal, run_id, input, executor).await
}
