//! `neuron cancel`

use serde_json::json;

use crate::{CliError, Exit, args::CancelArgs, runs::stored, session::Session};

pub(crate) async fn cancel(session: &Session, args: CancelArgs) -> Result<Exit, CliError> {
    let run_id = &args.run;
    let state = session.run(run_id).await?.cancel(args.reason).await?;
    if session.is_local() && state.is_final() {
        stored::take_in_or_say(session, run_id).await;
    }
    if session.output.is_json() {
        let value = json!({ "run_id": run_id, "accepted": true, "state": state });
        session.output.value(&value)?;
    } else if state.is_final() {
        session.output.text(&format!("run {run_id} is {state}"))?;
    } else if !session.is_local() {
        session
            .output
            .text(&format!("run {run_id} is being cancelled"))?;
    } else {
        session.output.text(&format!(
            "run {run_id} is being cancelled by the process that executes it"
        ))?;
    }
    Ok(Exit::Done)
}
