//! What can go wrong with the journal, and what it refuses.

use std::{io, path::PathBuf};

use neuron_types::{DurableError, Refusal, RunId};

/// What can go wrong with a [`Journal`](crate::Journal), and what it refuses.
///
/// Whatever it is, what was journaled before is safe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The home directory cannot be made or used.
    #[error("cannot use {} for runs: set NEURON_HOME to a directory that you may write", .path.display())]
    Home {
        /// The directory or the file in it.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The database cannot be opened, read or written.
    #[error("cannot read or write {}: check its permissions and its disk, or set NEURON_HOME", .path.display())]
    Access {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// A newer neuron wrote the database.
    #[error(
        "{} was written by a newer neuron (schema {found}, this one knows {known}): use that neuron, or another NEURON_HOME", .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The database's schema version.
        found: i64,
        /// The newest schema version that this build knows.
        known: i64,
    },
    /// The database belongs to another program.
    #[error("{} is the database of another program: set NEURON_HOME to another directory", .path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error(
        "{} is damaged or no database: put a copy in its place, or move it away to start anew", .path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// A row holds what this build cannot read.
    #[error("{} holds a row that cannot be read: use the neuron that wrote it", .path.display())]
    Unreadable {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// The disk is full, or the journal has reached
    /// [`JournalOptions::max_bytes`](crate::JournalOptions::max_bytes).
    #[error(
        "the disk is full, or the journal has reached its limit, and {} cannot grow: make room and resume the run, nothing that was journaled is lost", .path.display()
    )]
    Full {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// Another process keeps the database to itself.
    #[error("another process keeps {} locked: try again when it is done", .path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// Any other error of SQLite.
    #[error("the journal's database failed")]
    Database(#[from] rusqlite::Error),
    /// What is to be journaled cannot be written as JSON.
    #[error("a value cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The process is about to end.
    #[error("the journal was asked while the process was shutting down")]
    ShutDown,

    /// There is no such run.
    #[error("there is no run {run_id} here: `neuron runs` lists those that there are")]
    UnknownRun {
        /// The id.
        run_id: RunId,
    },
    /// There is a run of this id already.
    #[error("there is a run {run_id} already: choose another id, or `neuron resume {run_id}`")]
    RunExists {
        /// The id.
        run_id: RunId,
    },
    /// Another executor has the run.
    #[error("another process is executing run {run_id}: wait for it with `neuron wait {run_id}`")]
    Executing {
        /// The run.
        run_id: RunId,
    },
    /// The run does not take what it is asked, and is none the worse.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run has got beyond its first chapter, and whoever executes it does not start from
    /// [`JournaledContext::start`](crate::JournaledContext::start).
    #[error(
        "run {run_id} goes on from a later chapter: start its workflow with what JournaledContext::start gives"
    )]
    NotFromStart {
        /// The run.
        run_id: RunId,
    },
    /// A signal that has a meaning of its own carries something else.
    #[error("the payload does not fit the signal {name}: use the command that is made for it")]
    BadSignal {
        /// The signal.
        name: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl JournalError {
    /// Puts an error of SQLite into words.
    pub(crate) fn explained(self, path: &std::path::Path) -> Self {
        use rusqlite::ErrorCode as Code;

        let Self::Database(source) = self else {
            return self;
        };
        let path = path.to_path_buf();
        if matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
        ) {
            return Self::Unreadable { path, source };
        }
        match source.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full { path, source },
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged { path, source },
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy { path, source },
            Some(
                Code::CannotOpen
                | Code::ReadOnly
                | Code::PermissionDenied
                | Code::SystemIoFailure
                | Code::NoLargeFileSupport,
            ) => Self::Access { path, source },
            _ => Self::Database(source),
        }
    }
}

impl From<JournalError> for DurableError {
    fn from(error: JournalError) -> Self {
        Self::engine(error)
    }
}
