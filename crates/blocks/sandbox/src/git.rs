//! Where Git keeps a working tree's repository that is not in it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::protect::{HERE, make_missing};

/// The directory of the repository that a linked working tree belongs to.
///
/// `.git` is a file then, which a command could have written. So it is believed only if the repository, out of reach of
/// commands, says that this working tree is its own.
pub(crate) fn elsewhere(tree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(tree.join(".git")).ok()?;
    let named = tree.join(text.strip_prefix("gitdir:")?.trim());
    let own = named.canonicalize().ok()?;
    let worktrees = own
        .parent()
        .filter(|parent| parent.ends_with("worktrees"))?;
    let repository = worktrees.parent()?;
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    let back = Path::new(back.trim()).parent()?.canonicalize().ok()?;
    let whole = repository.join("HEAD").is_file() && repository.join("objects").is_dir();
    (back == tree && whole && !repository.starts_with(tree)).then(|| repository.to_owned())
}

/// The parts of a repository that name programs to run or lead to others that do, where the directory is a repository
/// itself.
pub(crate) fn own_parts(directory: &Path) -> Vec<PathBuf> {
    let whole = directory.join("HEAD").is_file() && directory.join("objects").is_dir();
    if !whole {
        return Vec::new();
    }
    make_missing(&directory.join("commondir"), |path| fs::write(path, HERE));
    let parts = ["hooks", "config", "config.worktree", "modules", "commondir"];
    let mut parts: Vec<_> = parts.map(|part| directory.join(part)).into();
    let trees = fs::read_dir(directory.join("worktrees"));
    for tree in trees.into_iter().flatten().flatten() {
        let own = ["commondir", "gitdir", "config.worktree"];
        parts.extend(own.map(|part| tree.path().join(part)));
    }
    parts
}
