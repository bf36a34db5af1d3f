//! The id that stands in a home of runs.

use std::{
    ffi::OsStr,
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use uuid::Uuid;

const NAME: &str = "id";

/// What files are called that become the id.
const UPCOMING: &str = ".id-";

const IGNORE: &str = ".gitignore";

/// How many bytes an id has.
const LENGTH: u64 = 36;

/// The id that stands in a home. `None` if there is none, or not one that neuron wrote, or others may have written it.
pub(super) fn read(home: &Path) -> Option<String> {
    let path = path(home);
    // A pipe would be waited for.
    let found = fs::symlink_metadata(&path).ok()?;
    if !found.is_file() || found.len() != LENGTH || may_be_others(&found) {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Uuid::parse_str(&text).ok().map(|_| text)
}

/// Whether nothing is in a home that would decide what runs do.
///
/// # Errors
///
/// The system's.
pub(super) fn is_blank(home: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_upcoming = name.to_string_lossy().starts_with(UPCOMING);
        let is_harmless = is_upcoming || name == OsStr::new(IGNORE);
        if !is_harmless || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An id that no home has yet.
#[derive(Debug)]
pub(super) struct NewId(String);

impl NewId {
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    pub(super) fn text(&self) -> String {
        self.0.clone()
    }

    /// Gives it to a home that has none, and returns whether it had none.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(super) fn write(&self, home: &Path) -> io::Result<bool> {
        match self.upcoming(home)?.persist_noclobber(path(home)) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }

    /// Gives it to a home in the place of the one that it has.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(super) fn replace(&self, home: &Path) -> io::Result<()> {
        self.upcoming(home)?.persist(path(home))?;
        Ok(())
    }

    /// The file is its owner's alone.
    fn upcoming(&self, home: &Path) -> io::Result<NamedTempFile> {
        let mut file = tempfile::Builder::new()
            .prefix(UPCOMING)
            .tempfile_in(home)?;
        file.write_all(self.0.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

fn path(home: &Path) -> PathBuf {
    home.join(NAME)
}

#[cfg(unix)]
fn may_be_others(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o022 != 0
}

#[cfg(not(unix))]
fn may_be_others(_: &fs::Metadata) -> bool {
    false
}
