//! Where a home of runs is, and where its files are.

use std::path::{Path, PathBuf};

use crate::HomeId;

/// The database of the journal.
pub(crate) const DATABASE: &str = "neuron.db";

/// A home and the directory of its files: that of its [id](HomeId), or the home itself if it has none.
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
        if let Some(id) = HomeId::find(path) {
            return Self::new(path, id.files(path));
        }
        let home = path.parent().filter(|home| {
            let id = HomeId::find(home);
            id.is_some_and(|id| path.file_name().is_some_and(|name| name == id.as_str()))
        });
        Self::new(home.unwrap_or(path), path.to_owned())
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
/// It is the one that the home's [id](HomeId) names, or the home itself if that has none. Nothing need be there.
#[must_use]
pub fn home_files(home: &Path) -> PathBuf {
    HomePaths::of(home).files
}
