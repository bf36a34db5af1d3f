//! Conversations in an SQLite database.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use neuron_types::{RunId, WasmBoxedFuture};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use crate::{
    journal::store::{private_files, protect},
    owner_files,
    sessions::{
        error::StorageError,
        session::{Session, SessionSummary},
        storage::{self, SessionStorage, Stored},
    },
};

/// How long a statement waits for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    session TEXT NOT NULL
) STRICT
";

/// Keeps conversations in an SQLite database. Cheap to clone.
///
/// The database is its owner's alone. Any number of processes may use it; a change is on the disk when the method returns.
#[derive(Clone)]
pub struct SqliteSessionStorage {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
}

impl SqliteSessionStorage {
    /// Opens the database at this path, and creates it and its directory if they are missing.
    ///
    /// # Errors
    ///
    /// [`StorageError::File`] or [`StorageError::Database`] if it cannot be used.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StorageError> {
        let path = path.into();
        storage::blocking(move || {
            let connection = open(&path)?;
            Ok(Self {
                path,
                connection: Arc::new(Mutex::new(connection)),
            })
        })
        .await
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StorageError> {
        let storage = self.clone();
        storage::blocking(move || {
            // A panic in between has rolled its transaction back.
            let connection = storage.connection.lock();
            let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(|failed| failed.at(&storage.path))
        })
        .await
    }
}

/// Why something was not done.
enum Failed {
    Storage(StorageError),
    Database(rusqlite::Error),
}

impl Failed {
    fn at(self, path: &Path) -> StorageError {
        match self {
            Self::Storage(error) => error,
            Self::Database(source) => StorageError::Database {
                path: path.to_path_buf(),
                source,
            },
        }
    }
}

impl From<StorageError> for Failed {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn open(path: &Path) -> Result<Connection, StorageError> {
    let directory = path.parent().filter(|path| !path.as_os_str().is_empty());
    if let Some(directory) = directory {
        owner_files::make_dir(directory).map_err(|source| StorageError::File {
            path: directory.to_path_buf(),
            source,
        })?;
    }
    private_files::tighten(path);
    let opened = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        protect::from_contents(&connection)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    };
    opened().map_err(|source| Failed::from(source).at(path))
}

fn put(connection: &mut Connection, session: &Session) -> Result<u64, Failed> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let stored = match get(&transaction, &session.id) {
        Ok(stored) => Some(Stored::from(&stored)),
        Err(Failed::Storage(StorageError::NotFound { .. })) => None,
        Err(error) => return Err(error),
    };
    let next = storage::following(session, stored)?;
    let revision = i64::try_from(next.revision).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO sessions (id, revision, session) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET revision = ?2, session = ?3",
        params![next.id, revision, storage::written(&next)?],
    )?;
    transaction.commit()?;
    Ok(next.revision)
}

fn get(connection: &Connection, id: &str) -> Result<Session, Failed> {
    let found: Option<String> = connection
        .query_row("SELECT session FROM sessions WHERE id = ?1", [id], |row| {
            row.get(0)
        })
        .optional()?;
    let json = found.ok_or_else(|| StorageError::NotFound { id: id.to_owned() })?;
    Ok(storage::read(id, json.as_bytes())?)
}

/// Returns the sessions that contain this text anywhere. The others are not read.
fn all_with(connection: &Connection, text: &str) -> Result<Vec<SessionSummary>, Failed> {
    let mut statement =
        connection.prepare("SELECT id, session FROM sessions WHERE instr(session, ?1) > 0")?;
    let mut rows = statement.query([text])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, json): (String, String) = (row.get(0)?, row.get(1)?);
        match storage::read(&id, json.as_bytes()) {
            Ok(session) => all.push(SessionSummary::from(&session)),
            Err(error) => tracing::warn!(%error, id, "a session is left out of the list"),
        }
    }
    storage::newest_first(&mut all);
    Ok(all)
}

fn remove(connection: &mut Connection, session: &Session) -> Result<(), Failed> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let stored = get(&transaction, &session.id)?;
    storage::unchanged(session, Stored::from(&stored))?;
    transaction.execute("DELETE FROM sessions WHERE id = ?1", [&session.id])?;
    Ok(transaction.commit()?)
}

impl SessionStorage for SqliteSessionStorage {
    fn save<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<u64, StorageError>> {
        let session = session.clone();
        Box::pin(async move {
            storage::checked(&session.id)?;
            self.call(move |connection| put(connection, &session)).await
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> WasmBoxedFuture<'a, Result<Session, StorageError>> {
        let id = id.to_owned();
        Box::pin(async move {
            storage::checked(&id)?;
            self.call(move |connection| get(connection, &id)).await
        })
    }

    fn list(&self) -> WasmBoxedFuture<'_, Result<Vec<SessionSummary>, StorageError>> {
        // Every session contains the empty text.
        Box::pin(self.call(|connection| all_with(connection, "")))
    }

    fn held_by<'a>(
        &'a self,
        run_id: &'a RunId,
    ) -> WasmBoxedFuture<'a, Result<Vec<SessionSummary>, StorageError>> {
        Box::pin(async move {
            let text = run_id.to_string();
            let with_text = self.call(move |connection| all_with(connection, &text));
            let mut found = with_text.await?;
            found.retain(|session| storage::is_with(session, run_id));
            Ok(found)
        })
    }

    fn delete<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<(), StorageError>> {
        let session = session.clone();
        Box::pin(async move {
            storage::checked(&session.id)?;
            self.call(move |connection| remove(connection, &session))
                .await
        })
    }
}

impl fmt::Debug for SqliteSessionStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSessionStorage")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
