//! `neuron approvals`

use neuron_types::RunId;

use crate::{
    CliError, Exit, engine, runs::tickets, session::Session, terminal::ticket as shown_ticket,
};

pub(crate) async fn approvals(session: &Session, run_id: Option<&RunId>) -> Result<Exit, CliError> {
    let open = match run_id {
        Some(run_id) => session.run_to_look_at(run_id).await?.tickets().await?,
        None => engine::all_tickets(&*session.engine_to_look_at().await?).await?,
    };
    if session.output.is_json() {
        session.output.value(&open)?;
        return Ok(Exit::Done);
    }
    for asked in open {
        let (run_id, ticket) = (&asked.run_id, &asked.ticket);
        session.output.text(&format!(
            "run {run_id}, ticket {}\n{}",
            shown_ticket::describe(ticket),
            tickets::commands(session, run_id, ticket)
        ))?;
    }
    Ok(Exit::Done)
}
