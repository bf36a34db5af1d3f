//! Where the files of a home of runs are.

use std::path::{Path, PathBuf};

use super::{files::HomePaths, store::HomeStore};

impl HomePaths {
    /// Takes a home, or the directory of its files.
    pub(crate) fn of(path: &Path) -> Self {
        let store = HomeStore::get();
        let files = store.as_ref().and_then(|store| store.files_of(path));
        if let Some(files) = files {
            return Self::new(path, files);
        }
        let home = store.and_then(|store| store.home_of(path));
        Self::new(home.as_deref().unwrap_or(path), path.to_owned())
    }

    /// Takes a home that may not be the person's own, to be looked at: one that was moved has its files where it had them.
    pub(crate) fn to_look_at(home: &Path) -> Self {
        let store = HomeStore::get();
        let files = |store: HomeStore| store.files_of(home).or_else(|| store.files_by_id(home));
        match store.and_then(files) {
            Some(files) => Self::new(home, files),
            None => Self::new(home, home.to_owned()),
        }
    }
}

/// Returns the directory of the files of a home that may not be the person's own, to be looked at: of one that was moved or copied
/// those where they were, and of any other the home itself.
#[must_use]
pub fn home_files_to_look_at(home: &Path) -> PathBuf {
    HomePaths::to_look_at(home).files
}

/// Returns the directory of the files of a home of runs: the database of the journal, `neuron.db`, and what is kept beside it.
/// It is the one in the person's [store](HomeStore) if the home is their own there, and the home itself otherwise, as where a
/// program or `NEURON_HOME` named it first. Nothing need be there.
#[must_use]
pub fn home_files(home: &Path) -> PathBuf {
    HomePaths::of(home).files
}
