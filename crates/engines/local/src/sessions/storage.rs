//! The storage of conversations.

use chrono::{DateTime, Utc};
use neuron_types::{RunId, WasmBoxedFuture};

use crate::sessions::{
    error::StorageError,
    session::{Session, SessionSummary},
};

/// Keeps conversations. Those of this crate are [in memory](crate::InMemorySessionStorage), in
/// [files](crate::FileSessionStorage) and in [SQLite](crate::SqliteSessionStorage); all pass one suite of tests.
///
/// # Contract
///
/// 1. A session that was saved exists after a crash, whole, unless the storage is in memory.
/// 2. [`save`](Self::save) accepts a session only if its [revision](Session::revision) is the stored one, and 0 only if
///    none is stored. So of two callers that loaded the same, one saves and the other gets an error. A session that was
///    deleted and created anew is another one, whatever its revision.
/// 3. Every method rejects an [invalid name](StorageError::InvalidId).
pub trait SessionStorage: Send + Sync {
    /// Stores a session, and returns its new revision, which is one more.
    ///
    /// # Errors
    ///
    /// [`StorageError::Conflict`] if another caller has saved or deleted it since it was loaded,
    /// [`StorageError::InvalidId`], [`StorageError::Unreadable`] if the session that is stored under its name cannot be
    /// read, or the error of writing it.
    fn save<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<u64, StorageError>>;

    /// Returns the session of this name.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`], [`StorageError::InvalidId`], [`StorageError::Unreadable`], or the error of reading
    /// it.
    fn load<'a>(&'a self, id: &'a str) -> WasmBoxedFuture<'a, Result<Session, StorageError>>;

    /// Returns all sessions, the last saved first. A session that cannot be read is left out with a warning in the log.
    ///
    /// # Errors
    ///
    /// The error of reading them.
    fn list(&self) -> WasmBoxedFuture<'_, Result<Vec<SessionSummary>, StorageError>>;

    /// Returns the sessions that a run of this id has, on whatever engine. The default implementation reads all of
    /// them.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    fn held_by<'a>(
        &'a self,
        run_id: &'a RunId,
    ) -> WasmBoxedFuture<'a, Result<Vec<SessionSummary>, StorageError>> {
        Box::pin(async move {
            let mut all = self.list().await?;
            all.retain(|session| is_with(session, run_id));
            Ok(all)
        })
    }

    /// Deletes a session in the state in which it was loaded.
    ///
    /// # Errors
    ///
    /// [`StorageError::NotFound`], [`StorageError::Conflict`] if another caller has saved it since it was loaded, or
    /// created it anew, [`StorageError::InvalidId`], [`StorageError::Unreadable`], or the error of deleting it.
    fn delete<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<(), StorageError>>;
}

/// Returns whether a run of this id has the session.
pub(crate) fn is_with(session: &SessionSummary, run_id: &RunId) -> bool {
    let run = session.run.as_ref();
    run.is_some_and(|run| run.run_id == *run_id)
}

/// Checks a session's name.
///
/// # Errors
///
/// [`StorageError::InvalidId`].
pub(crate) fn checked(id: &str) -> Result<(), StorageError> {
    RunId::new(id)?;
    Ok(())
}

/// Returns the session as it is stored next, if it follows from what is stored now.
///
/// # Errors
///
/// [`StorageError::Conflict`].
pub(crate) fn following(
    session: &Session,
    stored: Option<Stored>,
) -> Result<Session, StorageError> {
    match stored {
        None if session.revision == 0 => {}
        Some(stored) => unchanged(session, stored)?,
        None => {
            let id = session.id.clone();
            return Err(StorageError::Conflict { id });
        }
    }
    Ok(Session {
        revision: session.revision + 1,
        ..session.clone()
    })
}

/// What shows whether a session is as it was loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    revision: u64,
    created_at: DateTime<Utc>,
}

impl From<&Session> for Stored {
    fn from(session: &Session) -> Self {
        Self {
            revision: session.revision,
            created_at: session.created_at,
        }
    }
}

/// Checks that a session is stored as it was loaded.
///
/// # Errors
///
/// [`StorageError::Conflict`].
pub(crate) fn unchanged(session: &Session, stored: Stored) -> Result<(), StorageError> {
    let is_same = stored.revision == session.revision && stored.created_at == session.created_at;
    match is_same {
        true => Ok(()),
        false => Err(StorageError::Conflict {
            id: session.id.clone(),
        }),
    }
}

/// Reads a session as it is stored.
///
/// # Errors
///
/// [`StorageError::Unreadable`].
pub(crate) fn read(id: &str, json: &[u8]) -> Result<Session, StorageError> {
    serde_json::from_slice(json).map_err(|source| StorageError::Unreadable {
        id: id.to_owned(),
        source,
    })
}

/// Writes a session as it is stored.
///
/// # Errors
///
/// [`StorageError::Unwritable`].
pub(crate) fn written(session: &Session) -> Result<String, StorageError> {
    serde_json::to_string(session).map_err(|source| StorageError::Unwritable {
        id: session.id.clone(),
        source,
    })
}

/// The order of a list.
pub(crate) fn newest_first(sessions: &mut [SessionSummary]) {
    sessions.sort_by(|one, other| {
        let newer = other.updated_at.cmp(&one.updated_at);
        newer.then_with(|| one.id.cmp(&other.id))
    });
}

/// Runs on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(StorageError::ShutDown),
        },
    }
}
