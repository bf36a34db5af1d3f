//! Copies what lies in a home that may be a stranger's, to be looked at: to open a database where it is writes beside it.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use super::paths::HomePaths;
use crate::{
    JournalError,
    journal::store::{home::unusable, private_files},
};

/// Each database with what belongs to it. A log that was not copied into its database yet counts as much as that.
const COPIED: [&str; 6] = [
    "neuron.db",
    "neuron.db-wal",
    "neuron.db-journal",
    "sessions.db",
    "sessions.db-wal",
    "sessions.db-journal",
];

/// Copies the databases of a home into a directory. Nothing is read through a link. What another process writes meanwhile may be
/// missing.
pub(crate) fn databases(home: &HomePaths, to: &Path) -> Result<(), JournalError> {
    let files = &home.files;
    if *files != home.home {
        match fs::symlink_metadata(files) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(unusable(files)(no_file())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unusable(files)(error)),
        }
    }
    for name in COPIED {
        let from = files.join(name);
        copy(&from, &to.join(name)).map_err(unusable(&from))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let seen = match fs::symlink_metadata(from) {
        Ok(found) if found.is_file() => found,
        Ok(_) => return Err(no_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut from = File::open(from)?;
    if !is_same(&seen, &from.metadata()?) {
        return Err(no_file());
    }
    io::copy(&mut from, &mut private_files::open(to)?)?;
    Ok(())
}

fn no_file() -> io::Error {
    io::Error::other("it is a link, or something else that neuron did not make")
}

#[cfg(unix)]
fn is_same(seen: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, opened: &fs::Metadata) -> bool {
    opened.is_file()
}
