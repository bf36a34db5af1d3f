//! The id that stands in a home of runs, and names the directory of its files.

use std::{
    ffi::OsStr,
    fmt, fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use uuid::Uuid;

use crate::journal::store::private_files;

const NAME: &str = "id";

/// What files are called that become the id.
const UPCOMING: &str = ".id-";

/// How many bytes an id has.
const LENGTH: u64 = 36;

/// The id of a home of runs, which nobody guesses: a UUID. The files of the home are in a directory of this name, so that what
/// others put into the home under names that they know, as a repository does that was pulled, is none of them.
///
/// Programs that name the home need none: [`Journal::open`](crate::Journal::open) takes a home without an id, too, and has its
/// files in the home itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeId(String);

impl HomeId {
    /// Returns one that no home has yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    /// Returns the one that stands in a home, whoever wrote it. `None` if there is none, or not a file that holds one.
    #[must_use]
    pub fn find(home: &Path) -> Option<Self> {
        let path = Self::path(home);
        // A pipe would be waited for.
        let found = fs::symlink_metadata(&path).ok()?;
        if !found.is_file() || found.len() != LENGTH {
            return None;
        }
        Self::parse(fs::read_to_string(path).ok()?.as_ref())
    }

    fn parse(text: &OsStr) -> Option<Self> {
        let text = text.to_str()?;
        let id = Uuid::parse_str(text).ok()?.to_string();
        (id == text).then_some(Self(id))
    }

    /// The file that it stands in.
    #[must_use]
    pub fn path(home: &Path) -> PathBuf {
        home.join(NAME)
    }

    /// The directory of the files of the home that has this id.
    #[must_use]
    pub fn files(&self, home: &Path) -> PathBuf {
        home.join(&self.0)
    }

    /// Returns its text: 36 characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives it to a home that has none, with a directory of its name for the files, and returns whether it had none.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn begin(&self, home: &Path) -> io::Result<bool> {
        let files = self.files(home);
        private_files::make_dir(&files)?;
        match self.upcoming(home)?.persist_noclobber(Self::path(home)) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(files).ok();
                Ok(false)
            }
            Err(error) => Err(error.error),
        }
    }

    /// Gives it to a home in the place of the one that it may have.
    pub(super) fn replace(&self, home: &Path) -> io::Result<()> {
        self.upcoming(home)?.persist(Self::path(home))?;
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

impl fmt::Display for HomeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether nothing is in a home that would decide what runs do.
///
/// # Errors
///
/// The system's.
pub fn home_is_blank(home: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let is_upcoming = name.to_string_lossy().starts_with(UPCOMING);
        let is_harmless = match HomeId::parse(&name) {
            // Another command is about to give it its id.
            Some(_) => kind.is_dir() && is_empty(&entry.path())?,
            None => kind.is_file() && (is_upcoming || name == private_files::IGNORE),
        };
        if !is_harmless {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_empty(directory: &Path) -> io::Result<bool> {
    match fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        // That command was not the first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}
