//! Changing files so that a reader sees the old content or the new, never half of it.

use std::{
    collections::hash_map::RandomState,
    fs::File,
    hash::{BuildHasher, DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::fchown},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use neuron_types::ToolError;
use rustix::{
    fs::{AtFlags, Mode, OFlags, fchmod, fsync, openat, renameat, unlinkat},
    io::Errno,
};
use tokio_util::sync::CancellationToken;

use crate::{
    builtin::files::blocking::check,
    builtin::files::error::cannot,
    builtin::files::open::{Found, look, look_in, made_folder},
};

/// Calls of one turn run at once, and two edits of one file must not undo each other. Locks are shared by
/// paths with the same hash, which costs a wait at worst.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
/// How many names for a new file are tried.
const MAX_NAMES: usize = 16;

/// Makes every other change to this path by this process wait.
pub(crate) fn lock(path: &Path) -> Option<MutexGuard<'static, ()>> {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let index = usize::try_from(hasher.finish() % LOCKS.len() as u64).ok()?;
    let lock = LOCKS.get(index)?;
    Some(lock.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns what is at the real path now; `None` for nothing.
///
/// Fails if it is not a regular file, or a read-only one: a rename would replace those all the same.
pub(crate) fn replaceable(real: &Path, shown: &str) -> Result<Option<Found>, ToolError> {
    judge(look(real), shown)
}

fn judge(found: io::Result<Found>, shown: &str) -> Result<Option<Found>, ToolError> {
    match found {
        Ok(found) if !found.is_file() => Err(ToolError::ModelRetry(format!(
            "{shown} is not a file; use the path of a file"
        ))),
        Ok(found) if found.is_read_only() => Err(ToolError::PermissionDenied(format!(
            "{shown} is read-only; leave it, or change its permissions first"
        ))),
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("write", shown)(error)),
    }
}

/// Writes the content beside the real path, then puts it in its place.
///
/// A file that is there keeps its permissions and, where this process may set it, its owner. Cancelling
/// works until the last moment before the change. Nothing is written elsewhere if a part of the path
/// becomes a link meanwhile.
pub(crate) fn replace(
    real: &Path,
    shown: &str,
    content: &[u8],
    stop: &CancellationToken,
) -> Result<(), ToolError> {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(ToolError::ModelRetry(format!(
            "{shown} is not a file; use the path of a file"
        )));
    };
    let name = Path::new(name);
    let folder = made_folder(folder).map_err(cannot("write", shown))?;
    let old = judge(look_in(&folder, name), shown)?;
    let write = || -> io::Result<Beside<'_>> {
        let mut new = Beside::new(&folder)?;
        new.file.write_all(content)?;
        if let Some(old) = &old {
            // Only root may give files away; the permissions come after, because this resets some.
            let (user, group) = old.owner();
            drop(fchown(&new.file, Some(user), Some(group)));
            fchmod(&new.file, old.mode())?;
        }
        new.file.sync_all()?;
        Ok(new)
    };
    let new = write().map_err(cannot("write", shown))?;
    check(stop)?;
    new.persist(name).map_err(cannot("write", shown))
}

/// A new file in a directory, which is deleted unless it is put in its place.
struct Beside<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: File,
    placed: bool,
}

impl<'a> Beside<'a> {
    fn new(folder: &'a OwnedFd) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // As any new file: the umask takes its part.
        let mode = Mode::from_raw_mode(0o666);
        let mut tries = 0;
        loop {
            tries += 1;
            let name = format!(".neuron-{:016x}", RandomState::new().hash_one(tries));
            match openat(folder, name.as_str(), flags, mode) {
                Ok(file) => {
                    return Ok(Self {
                        folder,
                        name,
                        file: File::from(file),
                        placed: false,
                    });
                }
                Err(Errno::EXIST) if tries < MAX_NAMES => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Syncs the directory, so that what was reported as written is there after a power cut. A file system that cannot
    /// sync a directory does not keep anything from being written.
    fn sync_folder(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // The handle that is here may only name the directory.
        let opened = openat(self.folder, ".", flags, Mode::empty());
        let _ = opened.and_then(fsync);
    }

    /// Gives the file this name in its directory, in the place of what has the name.
    fn persist(mut self, name: &Path) -> io::Result<()> {
        renameat(self.folder, self.name.as_str(), self.folder, name)?;
        self.placed = true;
        self.sync_folder();
        Ok(())
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}
