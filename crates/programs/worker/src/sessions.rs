//! The sessions that a worker keeps.

use std::path::Path;

use neuron_local::{SessionManager, SqliteSessionStorage};

use crate::WorkerError;

/// Opens the sessions in this database, which is made if it is missing. Tools of this process do not reach it.
///
/// # Errors
///
/// [`WorkerError::Sessions`] if it cannot be used.
pub(crate) async fn open(to: &Path) -> Result<SessionManager, WorkerError> {
    let opened = SqliteSessionStorage::open(to).await;
    let storage = opened.map_err(|source| WorkerError::Sessions {
        to: to.to_owned(),
        source,
    })?;
    // SQLite's own files exist beside the database while it is open.
    for suffix in ["", "-wal", "-shm"] {
        let mut path = to.as_os_str().to_owned();
        path.push(suffix);
        neuron_sandbox::hide(Path::new(&path));
    }
    Ok(SessionManager::new(storage))
}
