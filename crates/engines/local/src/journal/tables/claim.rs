//! Creating a run that only the creator executes.

use std::path::Path;

use neuron_types::{RunId, RunRequest};

use crate::journal::{
    store::{error::JournalError, journal::Journal, lock::RunLock},
    tables::runs::is_run,
};

/// The right to execute a run that was created just now: see [`Journal::claim_run`]. If it is dropped, any executor may
/// take the run up.
#[derive(Debug)]
#[must_use]
pub struct RunClaim {
    pub(crate) journal: Journal,
    pub(crate) run_id: RunId,
    pub(crate) lock: RunLock,
}

impl Journal {
    /// As [`create_run_in`](Self::create_run_in), for a caller that executes the run with
    /// [`JournaledContext::open_claimed`](crate::JournaledContext::open_claimed): no other executor, such as a worker,
    /// can take it up before.
    ///
    /// # Errors
    ///
    /// As [`create_run`](Self::create_run).
    pub async fn claim_run(
        &self,
        directory: &Path,
        run_id: &RunId,
        request: impl Into<RunRequest>,
        engine: &str,
    ) -> Result<RunClaim, JournalError> {
        let wanted = run_id.clone();
        // Before the lock, which a run that is executed has.
        let is_there = self.call(move |connection| is_run(connection, &wanted));
        if is_there.await? {
            let run_id = run_id.clone();
            return Err(JournalError::RunExists { run_id });
        }
        let lock = self.lock(run_id).await?;
        match self.create_run_in(directory, run_id, request, engine).await {
            Ok(()) => Ok(RunClaim {
                journal: self.clone(),
                run_id: run_id.clone(),
                lock,
            }),
            Err(error) => {
                // A run that another process created meanwhile keeps its file.
                if !matches!(error, JournalError::RunExists { .. }) {
                    lock.discard();
                }
                Err(error)
            }
        }
    }
}
