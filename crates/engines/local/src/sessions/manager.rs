//! Giving sessions to runs, one at a time.

use std::{fmt, path::Path, sync::Arc};

use chrono::{DateTime, Utc};
use neuron_types::{RunId, RunOutput, Transcript};

use crate::sessions::{
    conversation::conversation_of,
    error::{SessionError, StorageError},
    session::{Session, SessionRun, SessionSummary},
    storage::SessionStorage,
};

/// Gives stored conversations to runs and adds their results. Cheap to clone.
///
/// Two runs of one session never interleave: the first has it until it is [taken in](Self::take_in) or was [never
/// started](Self::release), and a second one is [rejected](SessionError::Taken), on whatever engine each runs. No
/// process has to be alive meanwhile: the next run that takes the session first takes in the run before, if that is
/// over. Runs of one id on two engines are different runs.
///
/// ```
/// use neuron_local::{InMemorySessionStorage, SessionManager, SessionRun};
/// use neuron_types::RunId;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sessions = SessionManager::new(InMemorySessionStorage::new());
/// let run = |id: &str| SessionRun::new(RunId::new(id).unwrap(), "local");
/// let session = sessions.take("notes", run("r1")).await?;
/// assert!(session.messages.is_empty());
/// assert!(sessions.take("notes", run("r2")).await.is_err());
/// sessions.release("notes", &run("r1")).await?;
/// sessions.take("notes", run("r2")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SessionManager {
    storage: Arc<dyn SessionStorage>,
}

impl SessionManager {
    /// Returns the manager of the sessions in this storage.
    pub fn new(storage: impl SessionStorage + 'static) -> Self {
        Self {
            storage: Arc::new(storage),
        }
    }

    /// Returns the storage of the sessions.
    #[must_use]
    pub fn storage(&self) -> &dyn SessionStorage {
        &*self.storage
    }

    /// Returns the session of this name; a new one, which is not stored, if it does not exist.
    ///
    /// # Errors
    ///
    /// As [`SessionStorage::load`], except for [`StorageError::NotFound`].
    pub async fn open(&self, id: &str) -> Result<Session, StorageError> {
        match self.storage.load(id).await {
            Err(StorageError::NotFound { .. }) => Ok(Session::new(id, Utc::now())),
            loaded => loaded,
        }
    }

    /// Returns all sessions, the newest first.
    ///
    /// # Errors
    ///
    /// As [`SessionStorage::list`].
    pub async fn list(&self) -> Result<Vec<SessionSummary>, StorageError> {
        self.storage.list().await
    }

    /// Gives a session to a run that is about to start; its messages are the run's
    /// [preamble](neuron_types::RunRequest::preamble). A run that has it already keeps it, with the time since when it
    /// has it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Taken`] if another run has it, and the storage's.
    pub async fn take(&self, id: &str, run: SessionRun) -> Result<Session, SessionError> {
        let mut session = self.open(id).await?;
        match session.run.take() {
            Some(by) if by.is_same_run(&run) => {
                session.run = Some(by);
                return Ok(session);
            }
            Some(by) => {
                let id = id.to_owned();
                return Err(SessionError::Taken { id, by });
            }
            None => session.run = Some(run),
        }
        self.save(session).await.map_err(Into::into)
    }

    /// Returns the sessions that a run of this id has, on whatever engine.
    ///
    /// # Errors
    ///
    /// As [`SessionStorage::held_by`].
    pub async fn held_by(&self, run_id: &RunId) -> Result<Vec<SessionSummary>, StorageError> {
        self.storage.held_by(run_id).await
    }

    /// Adds the result of a run that is over and that has the session; the session is free then. The run that was taken
    /// in last is not taken in again.
    ///
    /// # Errors
    ///
    /// [`SessionError::Gone`] if the session does not exist any more, [`SessionError::NotWith`] if it is not with this
    /// run, on this engine and in this place: in both cases the turn is added to nothing. And the storage's errors.
    pub async fn take_in(
        &self,
        id: &str,
        run: &SessionRun,
        output: &RunOutput,
        transcript: &Transcript,
        directory: Option<&Path>,
    ) -> Result<Session, SessionError> {
        let (id, run_id) = (id.to_owned(), run.run_id.clone());
        let mut session = match self.storage.load(&id).await {
            Err(StorageError::NotFound { .. }) => return Err(SessionError::Gone { id, run_id }),
            loaded => loaded?,
        };
        let is_it = |other: &Option<SessionRun>| {
            let other = other.as_ref();
            other.is_some_and(|other| other.is_same_run(run))
        };
        if !is_it(&session.run) {
            return match is_it(&session.taken_in) {
                true => Ok(session),
                false => Err(SessionError::NotWith { id, run_id }),
            };
        }
        session.taken_in = session.run.take();
        session.messages.extend(conversation_of(transcript));
        session.state.token_usage.add(&output.usage);
        let entries = u64::try_from(transcript.entries.len()).unwrap_or(u64::MAX);
        session.state.event_count = session.state.event_count.saturating_add(entries);
        if let Some(directory) = directory {
            session.state.cwd = directory.to_path_buf();
        }
        Ok(self.save(session).await?)
    }

    /// Takes a session back from a run that was never started, or whose turn is lost: nothing of it is in the session.
    ///
    /// # Errors
    ///
    /// The storage's errors.
    pub async fn release(&self, id: &str, run: &SessionRun) -> Result<(), StorageError> {
        let mut session = self.open(id).await?;
        let by = session.run.as_ref();
        if by.is_some_and(|by| by.is_same_run(run)) {
            session.run = None;
            self.save(session).await?;
        }
        Ok(())
    }

    /// Stores a session that comes from elsewhere, and replaces none.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`] if a session of its name exists, and the storage's errors.
    pub async fn import(&self, session: Session) -> Result<Session, StorageError> {
        self.save(Session {
            revision: 0,
            run: None,
            taken_in: None,
            ..session
        })
        .await
    }

    /// Deletes a session that no run has. A session that a run has is [taken back](Self::release) first.
    ///
    /// # Errors
    ///
    /// [`SessionError::Taken`]; [`StorageError::Conflict`] if the session was changed meanwhile, for example by a run
    /// that was taken in; and the storage's errors.
    pub async fn remove(&self, id: &str) -> Result<(), SessionError> {
        let session = self.storage.load(id).await?;
        if let Some(by) = session.run {
            let id = id.to_owned();
            return Err(SessionError::Taken { id, by });
        }
        Ok(self.storage.delete(&session).await?)
    }

    async fn save(&self, mut session: Session) -> Result<Session, StorageError> {
        session.updated_at = later(session.updated_at, Utc::now());
        session.revision = self.storage.save(&session).await?;
        Ok(session)
    }
}

/// Returns the later time: a clock that was set back does not make a session older.
fn later(before: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    before.max(now)
}

impl fmt::Debug for SessionManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionManager").finish_non_exhaustive()
    }
}
