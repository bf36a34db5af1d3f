//! Changing files so that a reader sees the old content or the new, never half of it.

use std::{
    fs::{self, Metadata, Permissions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use neuron_types::ToolError;
use tokio_util::sync::CancellationToken;

use crate::{builtin::files::blocking::check, builtin::files::error::cannot};

/// Calls of one turn run at once, and two edits of one file must not undo each other. Locks are shared by
/// paths with the same hash, which costs a wait at worst.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// Keeps every other change to this path by this process waiting.
pub(crate) fn lock(path: &Path) -> Option<MutexGuard<'static, ()>> {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    let index = usize::try_from(hasher.finish() % LOCKS.len() as u64).ok()?;
    let lock = LOCKS.get(index)?;
    Some(lock.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What is at the path now; `None` for nothing.
///
/// Fails if it is not a regular file, or a read-only one: a rename would replace those all the same.
pub(crate) fn replaceable(path: &Path, shown: &str) -> Result<Option<Metadata>, ToolError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(ToolError::ModelRetry(format!(
            "{shown} is not a file; use the path of a file"
        ))),
        Ok(found) if found.permissions().readonly() => Err(ToolError::PermissionDenied(format!(
            "{shown} is read-only; leave it, or change its permissions first"
        ))),
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("write", shown)(error)),
    }
}

/// Writes the content beside the path, then puts it in its place.
///
/// A file that is there keeps its permissions and, where this process may set it, its owner. Cancelling
/// works until the last moment before the change.
pub(crate) fn replace(
    path: &Path,
    shown: &str,
    content: &[u8],
    stop: &CancellationToken,
) -> Result<(), ToolError> {
    let old = replaceable(path, shown)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let write = || -> io::Result<tempfile::NamedTempFile> {
        fs::create_dir_all(folder)?;
        let mut new = tempfile::Builder::new()
            .prefix(".neuron-")
            // As any new file: the umask takes its part.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        new.write_all(content)?;
        if let Some(old) = &old {
            // Only root may give files away; the permissions come after, because this resets some.
            drop(fchown(new.as_file(), Some(old.uid()), Some(old.gid())));
            new.as_file().set_permissions(old.permissions())?;
        }
        new.as_file().sync_all()?;
        Ok(new)
    };
    let new = write().map_err(cannot("write", shown))?;
    check(stop)?;
    new.persist(path)
        .map_err(|error| cannot("write", shown)(error.error))?;
    Ok(())
}
