//! Errors and rejections of the journal.

use std::{io, path::PathBuf};

use neuron_engine::BadSignal;
use neuron_types::{DurableError, Refusal, RunId};

/// An error or a rejection of a [`Journal`](crate::Journal).
///
/// Whichever it is, what was journaled before is safe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The home directory cannot be made or used.
    #[error("cannot use {} for runs", .path.display())]
    Home {
        /// The directory or the file in it.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// All users of this machine may write into the home directory, and so change what runs do.
    #[error("everybody on this machine may write into {}", .path.display())]
    Exposed {
        /// The directory.
        path: PathBuf,
    },
    /// The database cannot be opened, read or written.
    #[error("cannot read or write {}: check its permissions and its disk", .path.display())]
    Access {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// A newer neuron wrote the database.
    #[error(
        "{} was written by a newer neuron (schema {found}, this one knows {known}): use that neuron", .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The database's schema version.
        found: i64,
        /// The newest schema version that this build knows.
        known: i64,
    },
    /// An older neuron wrote the database, which can only be read.
    #[error(
        "{} was written by an older neuron (schema {found}, this one reads {known}) and cannot be changed where it is: copy it to a directory that you may write", .path.display()
    )]
    Older {
        /// The database.
        path: PathBuf,
        /// The database's schema version.
        found: i64,
        /// The schema version that this build reads.
        known: i64,
    },
    /// The database belongs to another program.
    #[error("{} is the database of another program", .path.display())]
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
    /// A row has a value that this build cannot read.
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
    /// A value that is to be journaled cannot be written as JSON.
    #[error("a value cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The process is about to end.
    #[error("the journal was asked while the process was shutting down")]
    ShutDown,

    /// There is no such run.
    #[error("there is no run {run_id} here")]
    UnknownRun {
        /// The id.
        run_id: RunId,
    },
    /// There already is a run of this id.
    #[error("there is a run {run_id} already")]
    RunExists {
        /// The id.
        run_id: RunId,
    },
    /// An older neuron began the run, and counted its steps in another way.
    #[error(
        "run {run_id} was begun by an older neuron, and this one cannot continue it: cancel it and start it again"
    )]
    OlderRun {
        /// The id.
        run_id: RunId,
    },
    /// Another executor has the run.
    #[error("another process is executing run {run_id}")]
    Executing {
        /// The run.
        run_id: RunId,
    },
    /// The run is not over, and cannot be forgotten.
    #[error("run {run_id} is not over")]
    NotOver {
        /// The run.
        run_id: RunId,
    },
    /// The run rejects the request. The run is not affected.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A build with another form of inputs and states started the run and has not finished it.
    #[error("{}", other_version(.run_id, .found, .known))]
    OtherVersion {
        /// The run.
        run_id: RunId,
        /// The version that it was started in, or continued in.
        found: u32,
        /// The version that this build reads and writes.
        known: u32,
    },
    /// The run has got beyond its first segment, and its executor does not start from
    /// [`JournaledContext::run_start`](crate::JournaledContext::run_start).
    #[error(
        "run {run_id} continues from a later segment: start its workflow with what JournaledContext::run_start gives"
    )]
    NotFromStart {
        /// The run.
        run_id: RunId,
    },
    /// The payload of a signal with a known meaning does not fit that meaning.
    #[error(transparent)]
    BadSignal(#[from] BadSignal),
}

impl JournalError {
    /// Converts an error of SQLite to the more specific error that it means.
    pub(crate) fn explained(self, path: &std::path::Path) -> Self {
        use rusqlite::ErrorCode as Code;

        let Self::Database(source) = self else {
            return self;
        };
        let path = path.to_path_buf();
        if is_of_row(&source) {
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

impl JournalError {
    /// Returns whether one row cannot be read, and others can.
    pub(crate) fn is_unreadable(&self) -> bool {
        match self {
            Self::Json(_) | Self::Unreadable { .. } => true,
            Self::Database(source) => is_of_row(source),
            _ => false,
        }
    }

    /// Returns whether the home directory may only be read.
    pub(crate) fn is_read_only(&self) -> bool {
        use io::ErrorKind as Kind;

        match self {
            Self::Home { source, .. } => {
                matches!(
                    source.kind(),
                    Kind::PermissionDenied | Kind::ReadOnlyFilesystem
                )
            }
            Self::Access { .. } => true,
            _ => false,
        }
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the error lends its fields"
)]
fn other_version(run_id: &RunId, found: &u32, known: &u32) -> String {
    if found > known {
        return format!(
            "run {run_id} was written by a newer version of neuron: state version {found}, this one knows up to \
             {known}: resume it with that version"
        );
    }
    format!(
        "run {run_id} has version {found} of the run state, and this build reads version {known}: finish it with the \
         build that started it"
    )
}

/// Returns whether the value of a column is not what it should be.
const fn is_of_row(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
    )
}

impl From<JournalError> for DurableError {
    fn from(error: JournalError) -> Self {
        Self::engine(error)
    }
}
