//! `neuron rm`

use std::collections::BTreeSet;

use neuron_local::JournalError;
use neuron_types::RunId;
use serde_json::json;

use crate::{
    CliError, Exit,
    args::{EngineName, RmArgs},
    runs::stored,
    session::Session,
    terminal::output::note,
};

pub(crate) async fn rm(session: &Session, args: RmArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::RetentionElsewhere { engine });
    }
    let mut runs = unique(args.runs);
    let journal = session.journal_if_any().await?;
    match (&journal, runs.first()) {
        (None, Some(run_id)) => {
            let run_id = run_id.clone();
            return Err(JournalError::UnknownRun { run_id }.into());
        }
        (None, None) => {}
        (Some(journal), _) => {
            if let Some(age) = args.older_than {
                let old = journal.runs_over_since(age).await?;
                runs = match runs.is_empty() {
                    true => old,
                    false => runs.into_iter().filter(|run| old.contains(run)).collect(),
                };
            }
            // A session cannot take in a run that the journal has forgotten.
            for run_id in &runs {
                if journal.output(run_id).await?.is_some() {
                    stored::take_in_ended(session, run_id).await?;
                }
            }
            journal.remove_runs(&runs).await?;
        }
    }
    if session.output.is_json() {
        session.output.value(&json!({ "removed": runs }))?;
        return Ok(Exit::Done);
    }
    for run_id in &runs {
        session.output.text(&format!("run {run_id} is deleted"))?;
    }
    if runs.is_empty() {
        note("no run ended so long ago");
    }
    Ok(Exit::Done)
}

/// Returns each run once, in the order in which they are named.
fn unique(runs: Vec<RunId>) -> Vec<RunId> {
    let mut seen = BTreeSet::new();
    let fresh = |run: &RunId| seen.insert(run.clone());
    runs.into_iter().filter(fresh).collect()
}
