//! `neuron approvals`

use neuron_types::RunId;

use crate::{CliError, Exit, session::Session, tickets};

pub(crate) async fn approvals(session: &Session, run_id: Option<&RunId>) -> Result<Exit, CliError> {
    let open = session.engine().await?.approvals(run_id).await?;
    if session.output.is_json() {
        session.output.value(&open)?;
        return Ok(Exit::Done);
    }
    for asked in open {
        let (run_id, ticket) = (&asked.run_id, &asked.ticket);
        session.output.text(&format!(
            "run {run_id}, ticket {}\n{}",
            tickets::describe(ticket),
            tickets::commands(session, run_id, ticket)
        ))?;
    }
    Ok(Exit::Done)
}
