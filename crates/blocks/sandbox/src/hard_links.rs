//! Files that have further names outside of what commands write.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// How many entries are looked at: a look at a large tree must end.
const MOST: usize = 50_000;

/// Files with names outside of a directory: what a command writes to them is written there, too.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HardLinks {
    pub(crate) files: usize,
    /// One of their names in the directory.
    pub(crate) example: Option<PathBuf>,
    /// Whether the directory has more entries than were looked at: some of the other names may be among those.
    pub(crate) is_part: bool,
}

impl HardLinks {
    /// Looks at a directory and what is in it, but for what is to be left out and other file systems. Follows no symbolic
    /// link.
    pub(crate) fn find(directory: &Path, leaves_out: impl Fn(&Path) -> bool) -> Self {
        Self::find_in(directory, leaves_out, MOST)
    }

    fn find_in(directory: &Path, leaves_out: impl Fn(&Path) -> bool, most: usize) -> Self {
        let device = fs::symlink_metadata(directory).map(|found| found.dev());
        let mut folders = vec![directory.to_owned()];
        let mut looked = 0;
        // The names that were not found, and one that was.
        let mut missing: HashMap<u64, (u64, PathBuf)> = HashMap::new();
        let mut is_part = false;
        'walk: while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                looked += 1;
                if looked > most {
                    is_part = true;
                    break 'walk;
                }
                let (path, found) = (entry.path(), entry.metadata());
                let Some(found) = found.ok().filter(|_| !leaves_out(&path)) else {
                    continue;
                };
                if device.as_ref().ok() != Some(&found.dev()) {
                    continue;
                }
                if found.is_dir() {
                    folders.push(path);
                } else if found.is_file() && found.nlink() > 1 {
                    let entry = missing.entry(found.ino());
                    let (names, _) = entry.or_insert_with(|| (found.nlink(), path));
                    *names = names.saturating_sub(1);
                }
            }
        }
        let outside = missing.into_values().filter(|(names, _)| *names > 0);
        let mut paths: Vec<_> = outside.map(|(_, path)| path).collect();
        paths.sort_unstable();
        Self {
            files: paths.len(),
            example: paths.into_iter().next(),
            is_part,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for path in [
            "work/packages/b",
            "work/packages/a",
            "store/x",
            "work/own",
            "work/hidden/c",
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::hard_link(root.join("work/packages/a"), root.join("store/a")).unwrap();
        fs::hard_link(root.join("work/packages/b"), root.join("store/b")).unwrap();
        fs::hard_link(root.join("work/hidden/c"), root.join("store/c")).unwrap();
        fs::hard_link(root.join("work/own"), root.join("work/packages/own")).unwrap();
        std::os::unix::fs::symlink("../store", root.join("work/link")).unwrap();
        (temp, root.join("work"))
    }

    #[test]
    fn files_with_names_elsewhere_are_found_and_those_with_all_names_inside_are_not() {
        let (_temp, work) = place();
        let found = HardLinks::find(&work, |path| path.ends_with("hidden"));
        let expected = HardLinks {
            files: 2,
            example: Some(work.join("packages/a")),
            is_part: false,
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_large_directory_is_looked_at_in_part() {
        let (_temp, work) = place();
        let found = HardLinks::find_in(&work, |_| false, 2);
        assert!(found.is_part && found.files <= 2, "{found:?}");
    }
}
