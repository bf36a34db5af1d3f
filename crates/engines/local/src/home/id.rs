//! The id in a home of runs, which names the home's files.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use uuid::Uuid;

use crate::journal::store::private_files;

const NAME: &str = "id";

/// The length of an id in bytes.
const LENGTH: u64 = 36;

/// The id of a home of runs: a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HomeId(String);

impl HomeId {
    /// Returns an id that no home has yet.
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    /// Returns the id in a home, whatever program wrote it. Returns `None` if there is no file, or not a file with an
    /// id.
    pub(crate) fn find(home: &Path) -> Option<Self> {
        let path = path(home);
        // Reading a pipe would wait for ever.
        let found = fs::symlink_metadata(&path).ok()?;
        if !found.is_file() || found.len() != LENGTH {
            return None;
        }
        Self::parse(fs::read_to_string(path).ok()?.as_ref())
    }

    pub(crate) fn parse(text: &OsStr) -> Option<Self> {
        let text = text.to_str()?;
        let id = Uuid::parse_str(text).ok()?.to_string();
        (id == text).then_some(Self(id))
    }

    /// Writes the id into a home that has no id. If that fails, or there is one, the home is not found again when it is
    /// moved.
    pub(crate) fn write_new(&self, home: &Path) {
        if Self::find(home).is_some() {
            return;
        }
        if let Err(error) = self.write(home) {
            tracing::debug!(%error, home = %home.display(), "the home has no id");
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes the id into a home, in place of one that it may have.
    pub(crate) fn write(&self, home: &Path) -> io::Result<()> {
        private_files::replace(&path(home), self.0.as_bytes())
    }
}

fn path(home: &Path) -> PathBuf {
    home.join(NAME)
}
