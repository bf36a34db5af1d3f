//! Which agent files a person trusts that nobody named.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use neuron_types::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::{AgentFile, AgentFileError, Environment, ProcessEnvironment};

/// The variable whose value `1` trusts every agent file that is found.
pub const TRUST_VARIABLE: &str = "NEURON_TRUST";

/// Returns the directory of the records of trust. Nothing that an agent does may write there: it would trust itself.
/// `None` where the environment names no home directory.
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

/// Checks that a file may do what it [wants](AgentFile::wants): somebody named it, or it wants nothing, or a person
/// trusts it as it is, or the variable `NEURON_TRUST` is `1`.
///
/// # Errors
///
/// [`AgentFileError::Untrusted`].
pub fn check_trust(file: &AgentFile, environment: &dyn Environment) -> Result<(), AgentFileError> {
    let Some(path) = file.path().filter(|_| file.is_found()) else {
        return Ok(());
    };
    let wants = file.wants();
    let trusts_all = || environment.variable(TRUST_VARIABLE).as_deref() == Some("1");
    let is_trusted = || TrustStore::find(environment).is_some_and(|store| store.trusts(file));
    if wants.is_empty() || trusts_all() || is_trusted() {
        return Ok(());
    }
    Err(AgentFileError::Untrusted {
        path: identity(path),
        wants: Box::new(wants),
    })
}

/// The records of the agent files that a person trusts: each by where the file is and by its
/// [digest](AgentFile::digest), so that a file which was changed, or another one, is not trusted.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
}

/// That a file is trusted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    path: String,
    digest: String,
}

impl Record {
    fn of(file: &AgentFile) -> Option<Self> {
        let path = identity(file.path()?);
        Some(Self {
            path: path.to_string_lossy().into_owned(),
            digest: file.digest().to_owned(),
        })
    }

    /// What the record's own file is called.
    fn name(&self) -> String {
        format!("{}.json", hex(&Sha256::digest(&self.path)))
    }
}

impl TrustStore {
    /// Returns the records in this directory, which need not be there.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns those of the person whose environment it is: in `neuron/trust` of `XDG_STATE_HOME`, by default of
    /// `.local/state` in the home directory. `None` where it names neither.
    #[must_use]
    pub fn find(environment: &dyn Environment) -> Option<Self> {
        folder(environment).map(Self::new)
    }

    /// Whether a person trusts the file as it is. What cannot be read, and what others could have written, says nothing.
    #[must_use]
    pub fn trusts(&self, file: &AgentFile) -> bool {
        let Some(wanted) = Record::of(file) else {
            return false;
        };
        let path = self.folder.join(wanted.name());
        if is_open(&self.folder) || is_open(&path) {
            return false;
        }
        let found = fs::read(&path).ok();
        let found = found.and_then(|record| serde_json::from_slice(&record).ok());
        found.is_some_and(|found: Record| found == wanted)
    }

    /// Records that a person trusts the file as it is, in the place of what was recorded of it before.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn trust(&self, file: &AgentFile) -> io::Result<()> {
        let Some(record) = Record::of(file) else {
            return Ok(());
        };
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(&self.folder)?;
        let kept = NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(kept.as_file(), &record)?;
        kept.as_file().sync_all()?;
        kept.persist(self.folder.join(record.name()))?;
        Ok(())
    }
}

/// Whether others than its owner may write there, or nobody knows.
fn is_open(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        let is_private = |found: fs::Metadata| found.permissions().mode() & 0o022 == 0;
        !fs::metadata(path).is_ok_and(is_private)
    }
    #[cfg(not(unix))]
    {
        fs::metadata(path).is_err()
    }
}

/// Which file it is, in whatever words it was found. A link is a file of its own: what stands in it starts from where
/// it is, and not from where it leads.
fn identity(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
