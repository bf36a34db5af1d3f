//! `neuron cancel`

use neuron_types::RunPhase;
use serde_json::json;

use crate::{CliError, Exit, args::CancelArgs, session::Session};

pub(crate) async fn cancel(session: &Session, args: CancelArgs) -> Result<Exit, CliError> {
    let run_id = &args.run;
    let journal = session.journal_of(run_id).await?;
    let output = journal.cancel(run_id, args.reason).await?;
    let state = output.map_or(RunPhase::Running, |output| output.state);
    if session.output.is_json() {
        let value = json!({ "run_id": run_id, "accepted": true, "state": state });
        session.output.value(&value)?;
    } else if state.is_final() {
        session.output.text(&format!("run {run_id} is {state}"))?;
    } else {
        session.output.text(&format!(
            "run {run_id} is being cancelled by the process that executes it"
        ))?;
    }
    Ok(Exit::Done)
}
