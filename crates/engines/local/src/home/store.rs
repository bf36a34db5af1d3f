//! The files of a person's homes of runs, out of reach of everything that came with a directory or works in it.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::PermissionsExt as _,
    },
    path::{Path, PathBuf},
};

use super::{
    copy,
    files::{DATABASE, SESSIONS},
    id::HomeId,
};
use crate::{
    JournalError,
    journal::store::{home::unusable, lock_file, private_files},
    owner_files,
};

/// The file, in the directory of one home's files, that has the path of the home.
const OF: &str = "of";

/// The files of a person's homes of runs: a directory for each, with a file that has the path of the home. No agent's
/// commands and file tools reach them. Nothing that is put into a home counts as one of them, neither what a repository
/// contains, nor what a command writes there while it runs. Nothing that is removed from a home removes them.
///
/// The id that is written into a home is the name of its files. With it they are found again when the home was moved.
#[derive(Debug, Clone)]
pub struct HomeStore {
    folder: PathBuf,
}

impl HomeStore {
    /// Returns the store in this directory, which need not exist.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the store of the person whose environment it is: in `neuron/homes` of `XDG_STATE_HOME`, by default of
    /// `.local/state` in the home directory. Returns `None` if the environment names neither.
    #[must_use]
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let absolute = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let state = absolute("XDG_STATE_HOME");
        let state = state.or_else(|| Some(absolute("HOME")?.join(".local/state")));
        Some(Self::new(state?.join("neuron/homes")))
    }

    /// Returns the store of this process's environment.
    pub(crate) fn get() -> Option<Self> {
        Self::find(|name| env::var_os(name))
    }

    /// Returns the directory of the files of a home, if it is the person's own: if the files have the path of this
    /// home. A home that was copied or moved is not. Files that others could have written do not count, and a link is
    /// no home.
    #[must_use]
    pub fn files_of(&self, home: &Path) -> Option<PathBuf> {
        self.found(home).filter(|files| self.is_safe(files))
    }

    /// Returns the directory of files that have the path of this home, whether others may write there or not.
    fn found(&self, home: &Path) -> Option<PathBuf> {
        if !is_directory(home) {
            return None;
        }
        let real = fs::canonicalize(home).ok()?;
        let is_its = |files: &PathBuf| of(files).as_ref() == Some(&real);
        let named = HomeId::find(home).map(|id| self.folder.join(id.as_str()));
        if let Some(files) = named.filter(is_its) {
            return Some(files);
        }
        let entries = fs::read_dir(&self.folder).ok()?.flatten();
        let mut files = entries.filter(|entry| HomeId::parse(&entry.file_name()).is_some());
        files.find_map(|entry| Some(entry.path()).filter(is_its))
    }

    /// As [`found`](Self::found), with an error if the files are not safe.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`] if others may write there.
    fn found_safe(&self, home: &Path) -> Result<Option<PathBuf>, JournalError> {
        match self.found(home) {
            Some(files) if !self.is_safe(&files) => Err(unusable(&files)(open_to_others())),
            found => Ok(found),
        }
    }

    /// Returns the directory that the home's id names, whichever home it belongs to.
    pub(crate) fn files_by_id(&self, home: &Path) -> Option<PathBuf> {
        let files = self.folder.join(HomeId::find(home)?.as_str());
        self.is_safe(&files).then_some(files)
    }

    /// Returns the path of the home with the same id as this one, if that is another one and the person's own: the home
    /// was moved or copied. Returns `None` for a home that has files of its own.
    #[must_use]
    pub fn moved_from(&self, home: &Path) -> Option<PathBuf> {
        if self.found(home).is_some() {
            return None;
        }
        let before = of(&self.files_by_id(home)?)?;
        (Some(&before) != fs::canonicalize(home).ok().as_ref()).then_some(before)
    }

    /// Returns the path of the home that these files belong to. Returns `None` if they are not in the person's store.
    pub(crate) fn home_of(&self, files: &Path) -> Option<PathBuf> {
        (files.parent()? == self.folder).then(|| of(files))?
    }

    /// Makes an existing home the person's own, and returns the directory of its files. The directory begins empty
    /// unless the home is the person's own already. Two processes that do this at once get the same directory.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`], also where others could write the files, or nothing can be written into the home.
    pub fn claim(&self, home: &Path) -> Result<PathBuf, JournalError> {
        let _claiming = self.claiming()?;
        if let Some(files) = self.found_safe(home)? {
            return Ok(files);
        }
        let (id, files) = self.begin(home, |_| Ok(()))?;
        id.write_new(home);
        Ok(files)
    }

    /// Makes a home, whatever its origin, the person's own, with what is in it: with the databases of `from`, which is
    /// the home itself or a [copy](crate::Journal::open_copy) of what was in it. They are copied, and the home keeps
    /// what it has. The files of a home of the person that was moved are taken over, and those of one that was copied
    /// are copied too.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`] if a process executes runs of the home, something cannot be copied, or is a link, and
    /// [`JournalError::Foreign`] if a database contains what neuron's do not. The home is not changed then.
    pub fn adopt(&self, home: &Path, from: &Path) -> Result<PathBuf, JournalError> {
        let failed = |source| unusable(home)(source);
        let _claiming = self.claiming()?;
        if let Some(files) = self.found_safe(home)? {
            return Ok(files);
        }
        if !is_directory(home) {
            return Err(failed(io::Error::other(
                "it is a link: set NEURON_HOME to where it leads",
            )));
        }
        if let Some(before) = self.moved_from(home)
            && HomeId::find(&before) != HomeId::find(home)
            && let Some(files) = self.files_by_id(home)
        {
            let real = fs::canonicalize(home).map_err(failed)?;
            private_files::replace(&files.join(OF), real.as_os_str().as_bytes()).map_err(failed)?;
            return Ok(files);
        }
        let before = self.files_by_id(home);
        if lock_file::is_any_held(&before.as_deref().unwrap_or(home).join("locks")) {
            let used = "a process executes its runs: stop it first";
            return Err(failed(io::Error::other(used)));
        }
        let (id, files) = self.begin(home, |files| copy::databases(from, files))?;
        id.write(home).map_err(failed)?;
        Ok(files)
    }

    /// Creates the files of a home, with what `fill` adds to them.
    fn begin(
        &self,
        home: &Path,
        fill: impl FnOnce(&Path) -> Result<(), JournalError>,
    ) -> Result<(HomeId, PathBuf), JournalError> {
        let id = HomeId::new();
        let real = fs::canonicalize(home).map_err(unusable(home))?;
        let mut upcoming = tempfile::Builder::new();
        let upcoming = upcoming
            .prefix(".new-")
            .permissions(fs::Permissions::from_mode(0o700));
        let upcoming = upcoming.tempdir_in(&self.folder);
        let upcoming = upcoming.map_err(unusable(&self.folder))?;
        let of = upcoming.path().join(OF);
        private_files::replace(&of, real.as_os_str().as_bytes()).map_err(unusable(&of))?;
        fill(upcoming.path())?;
        let files = self.folder.join(id.as_str());
        fs::rename(upcoming.keep(), &files).map_err(unusable(&files))?;
        if !self.is_safe(&files) {
            return Err(unusable(&self.folder)(open_to_others()));
        }
        Ok((id, files))
    }

    /// Locks the store: one process at a time.
    fn claiming(&self) -> Result<File, JournalError> {
        owner_files::make_dir(&self.folder).map_err(unusable(&self.folder))?;
        let path = self.folder.join(".lock");
        let lock = owner_files::open(&path).map_err(unusable(&path))?;
        lock.lock().map_err(unusable(&path))?;
        Ok(lock)
    }

    /// Returns whether only the person may write into the files of a home.
    fn is_safe(&self, files: &Path) -> bool {
        let is_ours = |path: &Path| {
            let found = fs::symlink_metadata(path);
            found.is_ok_and(|found| found.is_dir() && private_files::is_private(&found))
        };
        // The path of the folder may be a link of the person's own.
        let folder = fs::metadata(&self.folder);
        let is_own = folder.is_ok_and(|found| private_files::is_private(&found));
        is_own && is_ours(files)
    }
}

fn open_to_others() -> io::Error {
    io::Error::other("others may write to it, or own it: take that from them")
}

/// Returns whether there is something in a home itself that would decide what runs do, such as files of another person.
/// What cannot be read counts as existing.
#[must_use]
pub fn home_has_files(home: &Path) -> bool {
    [DATABASE, SESSIONS, "locks", "engines"].iter().any(|name| {
        let found = fs::symlink_metadata(home.join(name));
        found.map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
    })
}

fn is_directory(home: &Path) -> bool {
    fs::symlink_metadata(home).is_ok_and(|found| found.is_dir())
}

fn of(files: &Path) -> Option<PathBuf> {
    let path = fs::read(files.join(OF)).ok()?;
    Some(OsString::from_vec(path).into())
}
