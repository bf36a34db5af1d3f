//! Where a path leads, and through which symbolic links.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// As many as the kernel follows.
const MOST: usize = 40;

/// A path with all links followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) real: PathBuf,
    /// The links that were followed, each as a real directory with its name.
    pub(crate) links: Vec<PathBuf>,
}

impl Way {
    /// Follows an absolute path; `None` if it does not exist.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let mut way = Self::default();
        let mut rest: VecDeque<OsString> = parts(path).collect();
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                way.real.pop();
                continue;
            }
            let at = way.real.join(&part);
            if !fs::symlink_metadata(&at).ok()?.is_symlink() {
                way.real = at;
                continue;
            }
            let target = fs::read_link(&at).ok()?;
            way.links.push(at);
            if way.links.len() > MOST {
                return None;
            }
            if target.is_absolute() {
                way.real = PathBuf::new();
            }
            for part in parts(&target).rev() {
                rest.push_front(part);
            }
        }
        Some(way)
    }

    /// Returns the first of its links that a command could replace by another, as it writes these directories.
    pub(crate) fn writable(&self, write: &[PathBuf]) -> Option<&PathBuf> {
        let inside = |link: &&PathBuf| write.iter().any(|root| link.starts_with(root));
        self.links.iter().find(inside)
    }
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn leads_where_the_system_says_through_links_that_are_named() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a", root.join("one")).unwrap();
        symlink(root.join("one/b"), root.join("a/two")).unwrap();
        symlink("three", root.join("three")).unwrap();
        for path in ["a/b", "one/b/../b", "one/two", "one/./b", "a/../one/.."] {
            let path = root.join(path);
            assert_eq!(Way::of(&path).unwrap().real, path.canonicalize().unwrap());
        }
        let through = Way::of(&root.join("one/two")).unwrap();
        let [one, two] = ["one", "a/two"].map(|name| root.join(name));
        assert_eq!(through.links, [one.clone(), two.clone(), one]);
        assert_eq!(through.writable(&[root.join("a")]), Some(&two));
        assert_eq!(through.writable(&[root.join("b")]), None);
        assert_eq!(Way::of(&root.join("three")), None);
        assert_eq!(Way::of(&root.join("gone")), None);
        assert_eq!(Way::of(Path::new("/")).unwrap().real, Path::new("/"));
    }
}
