//! Files that a process holds open: a sign of life that needs no clock.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// Returns whether any process has this file open, also one in a sandbox of its own. The file must exist.
///
/// Only root sees the processes of other users.
///
/// # Panics
///
/// If the file or the list of processes cannot be read.
#[must_use]
pub fn is_open(file: &Path) -> bool {
    let file = fs::metadata(file).unwrap();
    let processes = fs::read_dir("/proc").unwrap();
    let opened = processes.filter_map(|process| fs::read_dir(process.ok()?.path().join("fd")).ok());
    opened.flatten().flatten().any(|descriptor| {
        // The path differs from one mount namespace to another; the file does not.
        let found = fs::metadata(descriptor.path());
        found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::is_open;

    #[test]
    fn a_file_is_open_as_long_as_somebody_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("held");
        let file = File::create(&path).unwrap();
        assert!(is_open(&path));
        drop(file);
        assert!(!is_open(&path));
    }
}
