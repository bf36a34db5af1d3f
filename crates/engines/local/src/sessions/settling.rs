//! Taking in the run that has a session, on whatever engine it is.

use std::path::Path;

use chrono::{TimeDelta, Utc};
use neuron_engine::RunHandle;

use crate::sessions::{
    error::{SessionError, StorageError},
    manager::SessionManager,
    session::SessionRun,
};

/// The time in which a run that took a session is started. A run that does not exist after this was never started, or
/// was removed.
const STARTED_AFTER: TimeDelta = TimeDelta::seconds(60);

/// How often a session is requested that others change at the same time.
pub(crate) const ATTEMPTS: usize = 5;

impl SessionManager {
    /// Takes in the run that has the session as `by`, if it is over: the turn is then in the session, which is free.
    /// `run` is that run, as a client sees it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Elsewhere`] if the run is in a place that this client does not look at, [`SessionError::Lost`]
    /// if its engine has no such run, [`SessionError::Engine`] if its status cannot be read, and those of
    /// [`take_in`](Self::take_in).
    pub async fn settle(
        &self,
        id: &str,
        by: &SessionRun,
        run: &RunHandle,
    ) -> Result<(), SessionError> {
        let here = SessionRun::of(&**run.client(), run.id());
        if !by.is_same_run(&here) {
            return Err(SessionError::Elsewhere {
                id: id.to_owned(),
                here: here.place.unwrap_or(here.engine),
                by: Box::new(by.clone()),
            });
        }
        match self.take_in_run(id, by, run).await {
            Err(SessionError::Engine(error)) if error.is_unknown_run() => {
                // The run may be about to start.
                if Utc::now() - by.since <= STARTED_AFTER {
                    return Ok(());
                }
                Err(SessionError::Lost {
                    id: id.to_owned(),
                    by: Box::new(by.clone()),
                })
            }
            settled => settled,
        }
    }

    /// Takes in the result of the run that has the session as `by`, if it is over.
    ///
    /// # Errors
    ///
    /// [`SessionError::Engine`] if the status of the run cannot be read, and those of [`take_in`](Self::take_in).
    pub async fn take_in_run(
        &self,
        id: &str,
        by: &SessionRun,
        run: &RunHandle,
    ) -> Result<(), SessionError> {
        let Some(output) = run.output().await? else {
            return Ok(());
        };
        let transcript = run.transcript().await?;
        let status = run.status().await?;
        let directory = status.directory.as_deref().map(Path::new);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let taken = self.take_in(id, by, &output, &transcript, directory);
            match taken.await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_conflict() && attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl SessionError {
    /// Returns whether another caller has changed the session meanwhile: it can be requested again.
    #[must_use]
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Storage(StorageError::Conflict { .. }))
    }
}
