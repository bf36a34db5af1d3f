//! Checks of the lock files of other processes.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

use crate::journal::store::{error::JournalError, home::unusable};

/// Returns whether a process has a lock in this directory: that of a run, or of workers. A file that cannot be opened
/// does not count.
pub(crate) fn is_any_held(locks: &Path) -> bool {
    let files = fs::read_dir(locks).into_iter().flatten().flatten();
    let mut files = files.filter_map(|entry| look_at(&entry.path()).ok().flatten());
    files.any(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Opens a lock file, if there is one. A pipe or a link that a stranger put there does not count, so that nothing waits
/// for it.
pub(crate) fn look_at(path: &Path) -> Result<Option<File>, JournalError> {
    let opened = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => File::open(path),
        Ok(_) => return Ok(None),
        Err(error) => Err(error),
    };
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path)(error)),
    }
}
