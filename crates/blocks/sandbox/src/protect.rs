//! What a command may not change, or not even read, inside the directories that it may write.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Component, Path, PathBuf},
};

use crate::{error::SandboxError, hidden};

/// Paths that tools leave alone beside those that they always do: see [`Protection`](crate::Protection). What was
/// [hidden](crate::hide) is among those.
///
/// Paths are absolute or relative to the working directory; those that do not exist are not protected.
///
/// # Examples
///
/// ```
/// use neuron_sandbox::Protected;
///
/// let protected = Protected::new().read_only("agents/team.toml").hidden("/srv/neuron");
/// assert!(protected.refuses_write("/workspace".as_ref(), "/workspace/agents/team.toml".as_ref()));
/// assert!(protected.refuses_write("/workspace".as_ref(), "/workspace/.git/hooks/pre-commit".as_ref()));
/// assert!(protected.refuses_read("/workspace".as_ref(), "/workspace/.neuron/neuron.db".as_ref()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protected {
    read_only: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
}

impl Protected {
    /// Makes a set with only the paths that are always protected.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file or directory that cannot be changed.
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Adds a file or directory that can neither be read nor changed.
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    pub(crate) fn read_only_in(&self, cwd: &Path) -> impl Iterator<Item = PathBuf> {
        let named = self.read_only.iter().map(|path| cwd.join(path));
        named.chain([cwd.join("neuron.toml")])
    }

    pub(crate) fn hidden_in(&self, cwd: &Path) -> impl Iterator<Item = PathBuf> {
        let named = self.hidden.iter().map(|path| cwd.join(path));
        named.chain([cwd.join(".neuron")]).chain(hidden::from(cwd))
    }
}

/// Makes the directory where runs are journaled, as neuron does, so that no command makes one.
pub(crate) fn make_journal(cwd: &Path) {
    make_missing(&cwd.join(".neuron"), |path| {
        fs::DirBuilder::new().mode(0o700).create(path)?;
        fs::write(path.join(".gitignore"), "*\n")
    });
}

/// Makes the directory of what a person trusts, if it is to be in a directory that may be written, so that no command
/// makes one. Its parents are its owner's alone, as those that are made with the first record.
pub(crate) fn make_records(root: &Path, records: &Path) {
    if below(root, records).is_some() {
        make_missing(records, |path| {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path)
        });
    }
}

/// Makes what is not there. Where it cannot be made, a command cannot make it either.
pub(crate) fn make_missing(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) {
    if fs::symlink_metadata(path).is_err() {
        drop(make(path));
    }
}

/// Returns where a protected path is, below this root: `None` if it does not exist or is elsewhere.
///
/// # Errors
///
/// A symbolic link on the way below the root: a command could replace it.
pub(crate) fn locate(root: &Path, path: &Path) -> Result<Option<PathBuf>, SandboxError> {
    let Some(below) = below(root, path) else {
        return Ok(None);
    };
    let mut at = root.to_owned();
    for part in below.components() {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                return Err(SandboxError::ProtectedLink { path: at });
            }
            Ok(_) => {}
            Err(error) if is_absent(&error) => return Ok(None),
            Err(source) => return Err(SandboxError::Path { path: at, source }),
        }
    }
    Ok(Some(at))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the rest of the path below a real root, whichever way it goes there.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        let real = path.canonicalize().ok()?;
        return real.strip_prefix(root).ok().map(Path::to_owned);
    }
    if let Ok(rest) = path.strip_prefix(root) {
        return Some(rest.components().collect());
    }
    // The root may be named through links: one of the ancestors is it.
    path.ancestors().skip(1).find_map(|ancestor| {
        let real = ancestor.canonicalize().ok()?;
        let inside = real.strip_prefix(root).ok()?;
        Some(inside.join(path.strip_prefix(ancestor).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap().join("work");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join("neuron.toml"), "").unwrap();
        (temp, root)
    }

    #[test]
    fn is_found_through_links_that_lead_to_the_root() {
        let (temp, root) = place();
        let link = temp.path().join("link");
        symlink(&root, &link).unwrap();
        let expected = Some(root.join("neuron.toml"));
        assert_eq!(locate(&root, &link.join("neuron.toml")).unwrap(), expected);
        assert_eq!(
            locate(&root, &root.join(".git/../neuron.toml")).unwrap(),
            expected
        );
        assert_eq!(locate(&root, &root.join("gone/neuron.toml")).unwrap(), None);
        assert_eq!(locate(&root, temp.path()).unwrap(), None);
    }

    #[test]
    fn a_link_cannot_be_protected() {
        let (_temp, root) = place();
        symlink("elsewhere", root.join(".git/hooks")).unwrap();
        let error = locate(&root, &root.join(".git/hooks")).unwrap_err();
        assert!(
            matches!(error, SandboxError::ProtectedLink { .. }),
            "{error}"
        );
    }
}
