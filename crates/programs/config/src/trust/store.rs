//! The records of trust, a file each.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use neuron_types::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::{AgentFile, Environment, ProcessEnvironment};

/// Returns the directory of the records of trust. Agents must not write there: an agent file could give itself trust.
/// `None` if the environment names no home directory.
#[must_use]
pub fn trust_store_path() -> Option<PathBuf> {
    folder(&ProcessEnvironment)
}

fn folder(environment: &dyn Environment) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = environment.variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("neuron/trust"))
}

/// The records of what a person trusts without naming it. An agent file is recorded by its path and by its
/// [digest](AgentFile::digest), so that a file which was changed, or another file, is not trusted.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

/// The record that a file is trusted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileRecord {
    path: String,
    digest: String,
}

impl FileRecord {
    fn of(file: &AgentFile) -> Option<Self> {
        let path = identity(file.path()?);
        Some(Self {
            path: path.to_string_lossy().into_owned(),
            digest: file.digest().to_owned(),
        })
    }

    /// Returns the name of the record's file.
    fn name(&self) -> String {
        format!("{}.json", hex(&Sha256::digest(&self.path)))
    }
}

impl TrustStore {
    /// Returns the records in this directory. It need not exist.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the records of the person whose environment it is: in `neuron/trust` of `XDG_STATE_HOME`, by default of
    /// `.local/state` in the home directory. `None` if the environment names neither.
    #[must_use]
    pub fn find(environment: &dyn Environment) -> Option<Self> {
        folder(environment).map(Self::new)
    }

    /// Returns whether a person trusts the file as it is. A record that cannot be read, or that others could have
    /// written, does not count.
    #[must_use]
    pub fn trusts(&self, file: &AgentFile) -> bool {
        FileRecord::of(file).is_some_and(|record| self.has(&record))
    }

    /// Records that a person trusts the file as it is, and replaces earlier records of the file.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn trust(&self, file: &AgentFile) -> io::Result<()> {
        match FileRecord::of(file) {
            Some(record) => self.keep(&record),
            None => Ok(()),
        }
    }

    fn has(&self, wanted: &FileRecord) -> bool {
        let path = self.folder.join(wanted.name());
        if is_open(&self.folder) || is_open(&path) {
            return false;
        }
        let found = fs::read(&path).ok();
        let found = found.and_then(|record| serde_json::from_slice(&record).ok());
        found.is_some_and(|found: FileRecord| found == *wanted)
    }

    fn keep(&self, record: &FileRecord) -> io::Result<()> {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(&self.folder)?;
        let kept = NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(kept.as_file(), record)?;
        kept.as_file().sync_all()?;
        kept.persist(self.folder.join(record.name()))?;
        Ok(())
    }
}

/// Returns whether others than this person may write there, or whether that is unknown.
fn is_open(path: &Path) -> bool {
    !fs::metadata(path).is_ok_and(|found| is_private(&found))
}

/// Returns whether a file or directory belongs to this person or the administrator, and no one else may write to it.
fn is_private(found: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        let person = rustix::process::geteuid().as_raw();
        is_of(person, found.uid(), found.mode())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        true
    }
}

#[cfg(unix)]
const fn is_of(person: u32, owner: u32, mode: u32) -> bool {
    (owner == 0 || owner == person) && mode & 0o022 == 0
}

/// Returns the identity of a file, whichever path it was found by. A link is a file of its own: relative paths in it
/// start from the link's folder, not from where it leads.
pub(super) fn identity(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::is_of;

    #[test]
    fn what_another_user_owns_or_others_may_write_is_not_a_person_s() {
        assert!(is_of(1000, 1000, 0o644) && is_of(1000, 0, 0o755) && is_of(0, 0, 0o600));
        assert!(!is_of(1000, 1001, 0o600) && !is_of(0, 1000, 0o600));
        assert!(!is_of(1000, 1000, 0o664) && !is_of(1000, 1000, 0o602));
    }
}
