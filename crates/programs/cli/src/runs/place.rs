//! The directory that a local run works in: where it was begun, wherever it is resumed.

use std::path::PathBuf;

use neuron_local::Journal;
use neuron_types::RunId;

use crate::{CliError, session::Session, terminal::output::note, terminal::shown};

/// Changes to the directory in which a run works. If `here`, the run is to work in the current directory.
///
/// # Errors
///
/// [`CliError::RunDirectory`] if the directory cannot be entered, [`CliError::NoRunDirectory`] if it is unknown, and
/// errors in reading the journal.
pub(crate) async fn go(
    session: &Session,
    journal: &Journal,
    run_id: &RunId,
    here: bool,
) -> Result<Session, CliError> {
    if here {
        return Ok(session.here());
    }
    let run_id = run_id.clone();
    let Some(path) = directory(journal, &run_id).await? else {
        return Err(CliError::NoRunDirectory { run_id });
    };
    if session.directory().is_ok_and(|current| current == path) {
        return Ok(session.clone());
    }
    match session.at(&path) {
        Ok(there) => {
            let path = path.to_string_lossy();
            note(&format!("run {run_id} works in {}", shown::line(&path)));
            Ok(there)
        }
        Err(source) => Err(CliError::RunDirectory {
            run_id,
            path,
            source,
        }),
    }
}

/// Returns what is known of where a run works.
async fn directory(journal: &Journal, run_id: &RunId) -> Result<Option<PathBuf>, CliError> {
    Ok(journal.directory(run_id).await?)
}
