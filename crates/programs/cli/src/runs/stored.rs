//! The stored conversation that a run continues.

use clap::ValueEnum as _;
use neuron_local::{SessionError, SessionManager, SessionRun};
use neuron_types::{Conversation, RunId, RunStatus};

use crate::{CliError, args::EngineName, session::Session, terminal::output::note};

/// How often the command tries to take a session that other processes change at the same time.
const ATTEMPTS: usize = 5;

/// The label of a run that names the start with which it began, if it continues a session. Runs have their labels on
/// every engine, also before a worker has them; the ids by which engines themselves distinguish runs are unknown to a
/// process that only started one.
pub(crate) const START: &str = "neuron.start";

/// A session that a run of this command has.
pub(crate) struct Stored {
    sessions: SessionManager,
    name: String,
    run: SessionRun,
    /// Whether this command took the session, and not an earlier command with the same run.
    is_new: bool,
    /// The value of the run's label.
    start: String,
}

impl Stored {
    /// Takes a session for a run that is about to start, and returns its conversation. A run that had the session
    /// before is taken in, if it is over.
    ///
    /// # Errors
    ///
    /// [`CliError::Sessions`] if a run that is not over has it, and the errors of [`settle`].
    pub(crate) async fn take(
        session: &Session,
        name: &str,
        run_id: &RunId,
        start: &str,
    ) -> Result<(Self, Conversation), CliError> {
        let sessions = session.sessions().await?;
        let run = session.run(run_id).await?;
        let run = SessionRun::of(&**run.client(), run_id);
        let mut attempts = 0;
        loop {
            attempts += 1;
            settle(session, &sessions, name).await?;
            match sessions.take(name, run.clone()).await {
                Ok(taken) => {
                    let is_new = taken.run.as_ref() == Some(&run);
                    let (name, said) = (name.to_owned(), taken.messages.into());
                    let stored = Self {
                        sessions,
                        name,
                        run,
                        is_new,
                        start: start.to_owned(),
                    };
                    return Ok((stored, said));
                }
                Err(error) if error.is_conflict() && attempts < ATTEMPTS => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes in the run, if it is over. Otherwise the next user of the session takes it in.
    ///
    /// # Errors
    ///
    /// The run or the session cannot be read.
    pub(crate) async fn settle(&self, session: &Session) -> Result<(), CliError> {
        let run = session.run(&self.run.run_id).await?;
        let taken = self.sessions.take_in_run(&self.name, &self.run, &run);
        Ok(taken.await?)
    }

    /// Gives the session back after a failed start, unless its run exists all the same: an earlier command has started
    /// it, or this one, whose answer was lost. That cannot be if the run was rejected (`is_refused`).
    ///
    /// # Errors
    ///
    /// The session cannot be saved.
    pub(crate) async fn not_started(
        &self,
        session: &Session,
        is_refused: bool,
    ) -> Result<(), CliError> {
        let run = session.run(&self.run.run_id).await?;
        let is_there = match run.status().await {
            Err(error) if error.is_unknown_run() => false,
            // A run that another start began does not belong to the session.
            Ok(status) if self.is_new && is_refused => began_with(&status, &self.start),
            Ok(_) => true,
            Err(_) => true,
        };
        if !is_there {
            let released = self.sessions.release(&self.name, &self.run).await;
            released.map_err(SessionError::from)?;
        }
        Ok(())
    }
}

/// Takes in the run that has a session, if it is over.
///
/// # Errors
///
/// [`SessionError::Lost`] if the run's engine knows no such run, [`SessionError::Elsewhere`] if the run is on an engine
/// that this command does not ask, and errors in reading sessions or that run.
pub(crate) async fn settle(
    session: &Session,
    sessions: &SessionManager,
    name: &str,
) -> Result<(), CliError> {
    let stored = sessions.open(name).await.map_err(SessionError::from)?;
    let Some(by) = stored.run else {
        return Ok(());
    };
    let Ok(engine) = EngineName::from_str(&by.engine, false) else {
        return Ok(());
    };
    let run = session.run_on(engine, &by.run_id).await?;
    Ok(sessions.settle(name, &by, &run).await?)
}

/// Takes in an ended local run, wherever it has a session.
///
/// # Errors
///
/// The run or the sessions cannot be read.
pub(crate) async fn take_in_ended(session: &Session, run_id: &RunId) -> Result<(), CliError> {
    let Some(sessions) = session.sessions_if_any().await? else {
        return Ok(());
    };
    let held = sessions.held_by(run_id).await;
    for stored in held.map_err(SessionError::from)? {
        let by = stored.run.as_ref();
        if let Some(by) = by.filter(|by| by.engine == EngineName::Local.as_str()) {
            let run = session.run_on(EngineName::Local, run_id).await?;
            sessions.take_in_run(&stored.id, by, &run).await?;
        }
    }
    Ok(())
}

/// Does the same after another action succeeded: an error is only reported.
pub(crate) async fn take_in_or_say(session: &Session, run_id: &RunId) {
    match take_in_ended(session, run_id).await {
        Ok(()) => {}
        // No other process will take it in.
        Err(error) if is_lost(&error) => note(&error.to_string()),
        Err(error) => note(&format!(
            "the session does not contain run {run_id} yet; the next command with the session adds it: {error}"
        )),
    }
}

/// Returns whether a run began with this start.
fn began_with(status: &RunStatus, start: &str) -> bool {
    status.labels.get(START).is_some_and(|label| label == start)
}

/// Returns whether the run lost the session meanwhile.
fn is_lost(error: &CliError) -> bool {
    use SessionError::{Gone, NotWith};

    matches!(error, CliError::Sessions(Gone { .. } | NotWith { .. }))
}

#[cfg(test)]
mod tests {
    use chrono::{TimeDelta, Utc};

    use super::*;

    #[test]
    fn a_run_is_that_of_a_start_by_its_label_and_not_by_any_clock() {
        let run_id = RunId::new("r1").unwrap();
        let later = Utc::now() + TimeDelta::days(1);
        let mut status = RunStatus::new(run_id, "restate", "default", later);
        assert!(!began_with(&status, "one"), "another one of its name");
        status.labels.insert(START.to_owned(), "one".to_owned());
        status.started_at = later - TimeDelta::days(2);
        assert!(began_with(&status, "one") && !began_with(&status, "two"));
    }
}
