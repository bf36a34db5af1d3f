//! `neuron approvals`

use neuron_engine::{OpenTicket, RunHandle};
use neuron_types::RunId;

use crate::{
    CliError, Exit, engine, runs::tickets, runs::tree::Tree, session::Session,
    terminal::output::note, terminal::ticket as shown_ticket,
};

pub(crate) async fn approvals(session: &Session, run_id: Option<&RunId>) -> Result<Exit, CliError> {
    let open = match run_id {
        Some(run_id) => of_tree(&session.run_to_look_at(run_id).await?).await?,
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

/// Returns the open tickets of a run and of all runs below it.
async fn of_tree(run: &RunHandle) -> Result<Vec<OpenTicket>, CliError> {
    let tree = Tree::of(run).await?;
    let mut open = Vec::new();
    for status in tree.known().filter(|status| !status.approvals.is_empty()) {
        let one = RunHandle::new(run.client().clone(), status.run_id.clone());
        open.extend(one.tickets().await?);
    }
    for why in tree.lost().chain(tree.incomplete.clone()) {
        note(&why);
    }
    Ok(open)
}
