//! `neuron resume`

use neuron_runtime::ProcessEnvironment;
use neuron_types::RunId;

use crate::{CliError, Exit, execution, session::Session};

pub(crate) async fn resume(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let journal = session.journal_of(run_id).await?;
    if journal.output(run_id).await?.is_some() {
        return execution::finished(session, &journal, run_id).await;
    }
    let input = journal.load_input(run_id).await?;
    let file = session.agent_file()?;
    let executor = file.executor(&input.agent, session.cwd()?, &ProcessEnvironment)?;
    execution::execute(session, &journal, run_id, input, executor).await
}
