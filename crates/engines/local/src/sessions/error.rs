//! Errors of stored conversations.

use std::{io, path::PathBuf};

use neuron_engine::RunClientError;
use neuron_types::{InvalidRunId, RunId};

use crate::sessions::session::SessionRun;

/// An error of a [`SessionStorage`](crate::SessionStorage). Nothing that was saved before is lost by it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no session of this name.
    #[error("there is no session {id}")]
    NotFound {
        /// The name.
        id: String,
    },
    /// The name is not valid for a session.
    #[error("the name of a session follows the rules of a run's id")]
    InvalidId(#[from] InvalidRunId),
    /// The session was saved by another caller since it was loaded. Load it again.
    #[error("session {id} was changed by another process meanwhile: try again")]
    Conflict {
        /// The name.
        id: String,
    },
    /// The stored session cannot be read.
    #[error("session {id} cannot be read: it is damaged, or a newer neuron wrote it")]
    Unreadable {
        /// The name.
        id: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The session cannot be written as JSON.
    #[error("session {id} cannot be written as JSON")]
    Unwritable {
        /// The name.
        id: String,
        /// Why.
        source: serde_json::Error,
    },
    /// A file cannot be read or written.
    #[error("cannot read or write {}", .path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The database cannot be read or written.
    #[cfg(feature = "journal")]
    #[error("cannot read or write {}", .path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The process is about to end.
    #[error("the sessions were asked while the process was shutting down")]
    ShutDown,
}

impl StorageError {
    /// Returns whether the same request may succeed later.
    pub(crate) const fn is_transient(&self) -> bool {
        match self {
            Self::Conflict { .. } | Self::File { .. } | Self::ShutDown => true,
            #[cfg(feature = "journal")]
            Self::Database { .. } => true,
            _ => false,
        }
    }
}

/// Why a session is not given to a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A run that is not over has it.
    #[error("session {id} is taken by run {} on {}, which is not over: wait for it, or cancel it", .by.run_id, .by.engine)]
    Taken {
        /// The session.
        id: String,
        /// The run that has it.
        by: SessionRun,
    },
    /// The session is not with the run that is to return it: it was taken from the run, or has continued without it.
    #[error("session {id} is not with run {run_id}, whose turn is not added to it")]
    NotWith {
        /// The session.
        id: String,
        /// The run that was to return it.
        run_id: RunId,
    },
    /// The session was deleted while a run had it, whose turn is lost.
    #[error("there is no session {id} any more: the turn of run {run_id} is lost")]
    Gone {
        /// The session.
        id: String,
        /// The run that was to return it.
        run_id: RunId,
    },
    /// The engine of the run that has it knows no such run.
    #[error(
        "the turn of session {id} that was run {}'s is lost: {} knows no such run, it was forgotten or never began. \
         `neuron sessions release {id}` lets the session continue without it, with `--at FILE` if a worker keeps it",
        .by.run_id, .by.engine
    )]
    Lost {
        /// The session.
        id: String,
        /// The run that has it.
        by: Box<SessionRun>,
    },
    /// The session is too large to be given to a run.
    #[error(
        "session {id} has {bytes} bytes, and a run is handed {most} at most: begin another session"
    )]
    TooLarge {
        /// The session.
        id: String,
        /// Its size as JSON.
        bytes: usize,
        /// The largest size.
        most: usize,
    },
    /// The run that has it is in a place that this program does not look at.
    #[error(
        "session {id} is taken by run {} in {}, and {here} is looked at here: set what leads there, or give the run's turn \
         up with `neuron sessions release --force {id}`",
        .by.run_id, .by.place.as_deref().unwrap_or(&.by.engine)
    )]
    Elsewhere {
        /// The session.
        id: String,
        /// The place that is looked at.
        here: String,
        /// The run that has it.
        by: Box<SessionRun>,
    },
    /// The status of the run that has it cannot be read.
    #[error("the run that has the session cannot be looked at")]
    Engine(#[from] RunClientError),
    /// The storage.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
