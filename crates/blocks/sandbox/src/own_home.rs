//! A home directory of programs that is kept for them, where no other user leaves anything.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    process::geteuid,
};

use crate::error::SandboxError;

/// Of a directory that is its owner's alone.
const OWN: u32 = 0o700;

/// What others may do with a file.
const OTHERS: u32 = 0o077;

/// A directory, and which of those above it are its own as well.
#[derive(Debug, Clone)]
pub(crate) struct OwnHome {
    root: PathBuf,
    below: PathBuf,
}

impl OwnHome {
    pub(crate) fn new(root: PathBuf, below: PathBuf) -> Self {
        Self { root, below }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }

    /// Makes it where it is missing, and ensures that it is this user's alone.
    ///
    /// # Errors
    ///
    /// [`SandboxError::NotOwn`], and [`SandboxError::Path`] if it cannot be made or changed.
    pub(crate) fn make(&self) -> Result<(), SandboxError> {
        let mut path = self.root.clone();
        let made = directory().recursive(true).create(&path);
        made.map_err(failed(&path))?;
        for part in self.below.components() {
            path.push(part);
            let Component::Normal(_) = part else {
                return Err(failed(&path)(io::ErrorKind::InvalidInput.into()));
            };
            match directory().create(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failed(&path)(error));
                }
                _ => keep(&path)?,
            }
        }
        Ok(())
    }
}

fn directory() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.mode(OWN);
    builder
}

/// Ensures that a directory is this user's alone. What is above it is already, so that no other user exchanges it.
fn keep(path: &Path) -> Result<(), SandboxError> {
    let found = fs::symlink_metadata(path).map_err(failed(path))?;
    let what = match found.file_type() {
        kind if kind.is_symlink() => Some("a symbolic link"),
        kind if !kind.is_dir() => Some("no directory"),
        _ if found.uid() != geteuid().as_raw() => Some("a directory of another user"),
        _ => None,
    };
    if let Some(what) = what {
        let path = path.to_owned();
        return Err(SandboxError::NotOwn { path, what });
    }
    let mode = found.mode() & 0o7777;
    if mode & OTHERS != 0 {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(CWD, path, flags, Mode::empty())
            .map_err(io::Error::from)
            .and_then(|found| File::from(found).set_permissions(mode_of(mode & !OTHERS)))
            .map_err(failed(path))?;
    }
    Ok(())
}

fn mode_of(mode: u32) -> Permissions {
    Permissions::from_mode(mode)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SandboxError {
    let path = path.to_owned();
    move |source| SandboxError::Path { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    fn home(root: &Path) -> OwnHome {
        OwnHome::new(root.join("cache"), "neuron/mcp/one".into())
    }

    #[test]
    fn is_its_users_alone_with_what_is_made_above_it() {
        let root = tempfile::tempdir().unwrap();
        home(root.path()).make().unwrap();
        for path in [
            "cache",
            "cache/neuron",
            "cache/neuron/mcp",
            "cache/neuron/mcp/one",
        ] {
            assert_eq!(mode(&root.path().join(path)), OWN, "{path}");
        }
    }

    #[test]
    fn others_lose_what_they_could_do_with_one_that_is_there() {
        let root = tempfile::tempdir().unwrap();
        let caches = root.path().join("cache");
        fs::create_dir_all(caches.join("neuron/mcp/one")).unwrap();
        for (path, open) in [("", 0o755), ("neuron", 0o755), ("neuron/mcp", 0o777)] {
            fs::set_permissions(caches.join(path), mode_of(open)).unwrap();
        }
        fs::set_permissions(caches.join("neuron/mcp/one"), mode_of(0o775)).unwrap();
        home(root.path()).make().unwrap();
        for path in ["neuron", "neuron/mcp", "neuron/mcp/one"] {
            assert_eq!(mode(&caches.join(path)), OWN, "{path}");
        }
        assert_eq!(mode(&caches), 0o755, "the user's own affair");
    }

    #[test]
    fn what_is_no_directory_of_this_user_is_refused_and_left_as_it_is() {
        for at in ["neuron", "neuron/mcp", "neuron/mcp/one"] {
            let root = tempfile::tempdir().unwrap();
            let elsewhere = root.path().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            fs::set_permissions(&elsewhere, mode_of(0o755)).unwrap();
            let there = root.path().join("cache").join(at);
            fs::create_dir_all(there.parent().unwrap()).unwrap();
            symlink(&elsewhere, &there).unwrap();
            let error = home(root.path()).make().unwrap_err();
            let said = error.to_string();
            assert!(
                said.contains("a symbolic link") && said.contains(at),
                "{said}"
            );
            assert_eq!(mode(&elsewhere), 0o755);
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
            fs::remove_file(&there).unwrap();
            fs::write(&there, "").unwrap();
            let said = home(root.path()).make().unwrap_err().to_string();
            assert!(said.contains("no directory"), "{said}");
        }
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let there = root.path().join("cache/neuron");
        fs::create_dir_all(&there).unwrap();
        let other = if geteuid().is_root() { 65534 } else { return };
        std::os::unix::fs::chown(&there, Some(other), None).unwrap();
        let said = home(root.path()).make().unwrap_err().to_string();
        assert!(said.contains("another user"), "{said}");
    }

    #[test]
    fn it_is_never_beside_its_root() {
        let root = tempfile::tempdir().unwrap();
        let beside = OwnHome::new(root.path().join("cache"), "../other".into());
        assert!(beside.make().is_err());
        assert!(!root.path().join("other").exists());
    }
}
