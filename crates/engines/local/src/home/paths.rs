//! Where the files of a home of runs are.

use std::path::{Path, PathBuf};

use super::{files::HomePaths, store::HomeStore};

impl HomePaths {
    /// Returns the paths of a home, or of the directory of its files.
    pub(crate) fn of(path: &Path) -> Self {
        let store = HomeStore::get();
        let files = store.as_ref().and_then(|store| store.files_of(path));
        if let Some(files) = files {
            return Self::new(path, files);
        }
        let home = store.and_then(|store| store.home_of(path));
        Self::new(home.as_deref().unwrap_or(path), path.to_owned())
    }

    /// Returns the paths of a home that may not be the person's own, for reading: a home that was moved has its files
    /// where they were.
    pub(crate) fn to_look_at(home: &Path) -> Self {
        let store = HomeStore::get();
        let files = |store: HomeStore| store.files_of(home).or_else(|| store.files_by_id(home));
        match store.and_then(files) {
            Some(files) => Self::new(home, files),
            None => Self::new(home, home.to_owned()),
        }
    }
}

/// Returns the directory of the files of a home that may not be the person's own, for reading: for a home that was
/// moved or copied, where its files were; for any other, the home itself.
#[must_use]
pub fn home_files_to_look_at(home: &Path) -> PathBuf {
    HomePaths::to_look_at(home).files
}

/// Returns the directory of the files of a home of runs: of the database of the journal, `neuron.db`, and the files
/// beside it. It is the one in the person's [store](HomeStore) if the home is their own there, and the home itself
/// otherwise, such as when a program or `NEURON_HOME` named the home first. The directory need not exist.
#[must_use]
pub fn home_files(home: &Path) -> PathBuf {
    HomePaths::of(home).files
}
