//! The stored conversation that a run takes up.

use std::path::Path;

use chrono::{TimeDelta, Utc};
use clap::ValueEnum as _;
use neuron_engine::RunHandle;
use neuron_local::{SessionError, SessionManager, SessionRun, StorageError};
use neuron_types::{Conversation, RunId};

use crate::{CliError, args::EngineName, session::Session};

/// A run that took a session is started a moment later. One that is not there after this was never started.
const STARTED_AFTER: TimeDelta = TimeDelta::seconds(60);

/// How often a session is asked for that others change at the same time.
const ATTEMPTS: usize = 5;

/// A session that a run of this command has.
pub(crate) struct Stored {
    sessions: SessionManager,
    name: String,
    run_id: RunId,
}

impl Stored {
    /// Takes a session for a run that is about to start, and returns what was said in it. A run that had it before is taken
    /// in, if it is over.
    ///
    /// # Errors
    ///
    /// [`CliError::Sessions`] if a run that is not over has it, and what keeps sessions or that run from being looked at.
    pub(crate) async fn take(
        session: &Session,
        name: &str,
        run_id: &RunId,
    ) -> Result<(Self, Conversation), CliError> {
        let sessions = session.sessions().await?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            settle(session, &sessions, name, run_id).await?;
            let run = SessionRun {
                run_id: run_id.clone(),
                engine: session.global.engine.as_str().to_owned(),
                since: Utc::now(),
            };
            match sessions.take(name, run).await {
                Ok(taken) => {
                    let stored = Self {
                        sessions,
                        name: name.to_owned(),
                        run_id: run_id.clone(),
                    };
                    return Ok((stored, taken.messages.into()));
                }
                Err(SessionError::Storage(StorageError::Conflict { .. }))
                    if attempts < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes in the run, if it is over. Else whoever takes up the session next does.
    ///
    /// # Errors
    ///
    /// What keeps the run or the session from being looked at.
    pub(crate) async fn settle(&self, session: &Session) -> Result<(), CliError> {
        let run = session.run(&self.run_id).await?;
        take_in(&self.sessions, &self.name, &run).await?;
        Ok(())
    }

    /// The run was not started.
    ///
    /// # Errors
    ///
    /// What keeps the session from being saved.
    pub(crate) async fn release(&self) -> Result<(), CliError> {
        let released = self.sessions.release(&self.name, &self.run_id).await;
        Ok(released.map_err(SessionError::from)?)
    }
}

/// Takes in the run that had a session, if it is over and another one.
async fn settle(
    session: &Session,
    sessions: &SessionManager,
    name: &str,
    run_id: &RunId,
) -> Result<(), CliError> {
    let stored = sessions.open(name).await.map_err(SessionError::from)?;
    let Some(by) = stored.run.filter(|by| by.run_id != *run_id) else {
        return Ok(());
    };
    let Ok(engine) = EngineName::from_str(&by.engine, false) else {
        return Ok(());
    };
    let run = session.run_on(engine, &by.run_id).await?;
    match take_in(sessions, name, &run).await {
        Err(CliError::Engine(error)) if error.0.is_unknown_run() => {
            if Utc::now() - by.since > STARTED_AFTER {
                let released = sessions.release(name, &by.run_id).await;
                released.map_err(SessionError::from)?;
            }
            Ok(())
        }
        settled => settled,
    }
}

async fn take_in(sessions: &SessionManager, name: &str, run: &RunHandle) -> Result<(), CliError> {
    let Some(output) = run.output().await? else {
        return Ok(());
    };
    let transcript = run.transcript().await?;
    let status = run.status().await?;
    let directory = status.directory.as_deref().map(Path::new);
    let taken = sessions
        .take_in(name, &output, &transcript, directory)
        .await;
    match taken {
        // Another command has taken it in, and handed the session on.
        Ok(_) | Err(SessionError::NotWith { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
