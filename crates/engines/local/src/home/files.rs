//! The files of a home of runs.

use std::path::{Path, PathBuf};

/// The database of the journal.
pub(crate) const DATABASE: &str = "neuron.db";

/// The database of stored conversations.
pub(crate) const SESSIONS: &str = "sessions.db";

/// A home and the directory of its files: the one in the person's [store](crate::HomeStore), or the home itself.
#[derive(Debug, Clone)]
pub(crate) struct HomePaths {
    pub(crate) home: PathBuf,
    pub(crate) files: PathBuf,
    /// The directory of lock files: the executor of a run holds a lock on a file in it.
    pub(crate) locks: PathBuf,
}

impl HomePaths {
    pub(crate) fn new(home: &Path, files: PathBuf) -> Self {
        Self {
            home: home.to_owned(),
            locks: files.join("locks"),
            files,
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.files.join(DATABASE)
    }

    pub(crate) fn lock(&self, name: &str) -> PathBuf {
        self.locks.join(format!("{name}.lock"))
    }
}
