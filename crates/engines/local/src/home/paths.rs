//! Where a home of runs is, and where its files are.

use std::path::{Path, PathBuf};

use super::store::HomeStore;

/// The database of the journal.
pub(crate) const DATABASE: &str = "neuron.db";

/// That of stored conversations.
pub(crate) const SESSIONS: &str = "sessions.db";

/// A home and the directory of its files: the one in the person's [store](HomeStore), or the home itself.
#[derive(Debug, Clone)]
pub(crate) struct HomePaths {
    pub(crate) home: PathBuf,
    pub(crate) files: PathBuf,
    /// Who executes a run holds a file in it.
    pub(crate) locks: PathBuf,
}

impl HomePaths {
    /// Takes either of the first two.
    pub(crate) fn of(path: &Path) -> Self {
        let store = HomeStore::get();
        let files = store.as_ref().and_then(|store| store.files_of(path));
        if let Some(files) = files {
            return Self::new(path, files);
        }
        let home = store.and_then(|store| store.home_of(path));
        Self::new(home.as_deref().unwrap_or(path), path.to_owned())
    }

    /// The same of a home that may not be the person's own, to be looked at: one that was moved has its files where it had them.
    pub(crate) fn to_look_at(home: &Path) -> Self {
        let store = HomeStore::get();
        match store.and_then(|store| store.files_by_id(home)) {
            Some(files) => Self::new(home, files),
            None => Self::new(home, home.to_owned()),
        }
    }

    fn new(home: &Path, files: PathBuf) -> Self {
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

/// Returns the directory of the files of a home of runs: the database of the journal, `neuron.db`, and what is kept beside it.
/// It is the one in the person's [store](HomeStore) if the home is their own there, and the home itself otherwise, as where a
/// program or `NEURON_HOME` named it first. Nothing need be there.
#[must_use]
pub fn home_files(home: &Path) -> PathBuf {
    HomePaths::of(home).files
}
