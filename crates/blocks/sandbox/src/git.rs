//! The parts of Git's directories that name programs to run, and where those directories are.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use crate::protect::make_missing;

/// Git runs what these say, or finds through them what to run.
const PARTS: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "modules",
    WORKTREES,
    "commondir",
];

/// Where a repository keeps what belongs to its linked working trees.
const WORKTREES: &str = "worktrees";

/// The same of what belongs to one linked working tree.
const TREE_PARTS: &[&str] = &["commondir", "gitdir", "config.worktree"];

/// What `commondir` says where a repository's settings are in its own directory, as they are without that file.
const HERE: &str = ".\n";

/// Returns whether a path is one of those parts or in one: of a directory `.git`, or of one that is a repository
/// itself, whatever its name is. `.git` itself is one too.
pub(crate) fn is_part(path: &Path) -> bool {
    let mut after = path
        .components()
        .map(|part| part.as_os_str())
        .skip_while(|part| *part != ".git");
    let in_git = after.next().is_some() && after.next().is_none_or(is_name);
    in_git
        || path.ancestors().skip(1).any(|directory| {
            let rest = path.strip_prefix(directory).ok();
            let first = rest.and_then(|rest| rest.components().next());
            first.is_some_and(|first| is_name(first.as_os_str())) && is_repository(directory)
        })
}

fn is_name(part: &OsStr) -> bool {
    PARTS.iter().any(|name| part == *name)
}

fn is_repository(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join("objects").is_dir()
}

/// Returns the parts of a working tree's own `.git`, whether they exist or not. Makes the directory of hooks and the
/// file `commondir`, which leads Git to other settings and hooks, where they are missing, so that no command makes
/// them.
pub(crate) fn tree_parts(directory: &Path) -> Vec<PathBuf> {
    let git = directory.join(".git");
    if !git.is_dir() {
        // A file that says where it is.
        return vec![git];
    }
    // Without them there is nothing to protect but their names.
    if git.join("HEAD").is_file() {
        make_missing(&git.join("hooks"), |path| fs::create_dir(path));
        make_missing(&git.join("commondir"), |path| fs::write(path, HERE));
    }
    // A link would be followed to `.git` itself: it is reported by the check of the path.
    PARTS.iter().map(|part| git.join(part)).collect()
}

/// Returns the parts of a directory that is a repository itself; nothing if it is not one. Of what belongs to linked
/// working trees only what leads to programs: Git writes the rest as it works in them.
pub(crate) fn own_parts(directory: &Path) -> Vec<PathBuf> {
    if !is_repository(directory) {
        return Vec::new();
    }
    make_missing(&directory.join("commondir"), |path| fs::write(path, HERE));
    let parts = PARTS.iter().filter(|part| **part != WORKTREES);
    let mut parts: Vec<_> = parts.map(|part| directory.join(part)).collect();
    let trees = fs::read_dir(directory.join(WORKTREES));
    for tree in trees.into_iter().flatten().flatten() {
        parts.extend(TREE_PARTS.iter().map(|part| tree.path().join(part)));
    }
    parts
}

/// Returns the directory of the repository that a linked working tree belongs to.
///
/// `.git` is a file then, which a command could have written. So it is believed only if the repository, out of reach of
/// commands, says that this working tree is its own.
pub(crate) fn elsewhere(tree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(tree.join(".git")).ok()?;
    let named = tree.join(text.strip_prefix("gitdir:")?.trim());
    let own = named.canonicalize().ok()?;
    let worktrees = own.parent().filter(|parent| parent.ends_with(WORKTREES))?;
    let repository = worktrees.parent()?;
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    let back = Path::new(back.trim()).parent()?.canonicalize().ok()?;
    let believed = back == tree && is_repository(repository) && !repository.starts_with(tree);
    believed.then(|| repository.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("tree/.git")).unwrap();
        (temp, root.join("tree"))
    }

    #[test]
    fn what_leads_git_to_programs_is_made_where_there_is_none() {
        let (_temp, root) = place();
        tree_parts(&root);
        assert!(!root.join(".git/hooks").exists() && !root.join(".git/commondir").exists());
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main").unwrap();
        assert!(tree_parts(&root).contains(&root.join(".git/hooks")));
        assert!(root.join(".git/hooks").is_dir());
        let common = fs::read_to_string(root.join(".git/commondir")).unwrap();
        assert_eq!(common, HERE);
    }

    #[test]
    fn a_repository_has_the_same_parts_whatever_its_name_is() {
        let (_temp, root) = place();
        fs::create_dir_all(root.join("bare/objects")).unwrap();
        fs::write(root.join("bare/HEAD"), "ref: refs/heads/main").unwrap();
        for path in [
            ".git",
            ".git/config",
            "sub/.git/hooks/pre-commit",
            "bare/config",
            "bare/hooks/post-receive",
            "bare/worktrees/one/commondir",
        ] {
            assert!(is_part(&root.join(path)), "{path}");
        }
        for path in [
            "config",
            "hooks/x",
            "bare",
            "bare/HEAD",
            "bare/refs/config",
            ".git/HEAD",
        ] {
            assert!(!is_part(&root.join(path)), "{path}");
        }
    }
}
