//! Checks that the lints of the replayed floor are the same for each of its crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The folder of the floor's crates. Clippy finds the file above it.
const FLOOR: &str = "crates/core";

/// The crates elsewhere that are replayed, too, each with a copy of the file: not every checkout has links.
const ELSEWHERE: [&str; 2] = ["crates/blocks/turn", "workflows"];

/// The names of files that clippy looks for, in each folder from a crate's upwards.
const NAMES: [&str; 2] = ["clippy.toml", ".clippy.toml"];

/// Checks that every replayed crate has the floor's lints.
///
/// # Errors
///
/// Returns an error that names the files with other lints, or a file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let floor = root.join(FLOOR);
    let lints = read(&floor.join(NAMES[0]))?;
    let mut others = Vec::new();
    for folder in ELSEWHERE {
        let copy = root.join(folder).join(NAMES[0]);
        if read(&copy)? != lints {
            others.push(copy);
        }
    }
    let failed = |source| Error::File {
        path: floor.clone(),
        action: "read",
        source,
    };
    for entry in fs::read_dir(&floor).map_err(failed)? {
        let folder = entry.map_err(failed)?.path();
        others.extend(own(&folder));
    }
    if others.is_empty() {
        Ok(())
    } else {
        others.sort();
        Err(Error::Lints(others))
    }
}

/// Returns the files that clippy would read for a crate instead of the floor's.
fn own(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = NAMES.map(|name| folder.join(name)).into_iter();
    files.filter(|file| file.exists())
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source: io::Error| Error::File {
        path: path.to_path_buf(),
        action: "read",
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_of_the_floor_has_the_same_lints() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("crates/core/clippy.toml", "one");
        write("crates/core/loop/Cargo.toml", "");
        write("crates/blocks/turn/clippy.toml", "one");
        write("workflows/clippy.toml", "one");
        assert!(check(root.path()).is_ok());

        write("crates/core/loop/.clippy.toml", "one");
        write("workflows/clippy.toml", "../crates/core/clippy.toml");
        let Err(Error::Lints(others)) = check(root.path()) else {
            unreachable!("two files");
        };
        let expected = ["crates/core/loop/.clippy.toml", "workflows/clippy.toml"];
        assert_eq!(others, expected.map(|path| root.path().join(path)));
    }
}
