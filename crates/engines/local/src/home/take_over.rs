//! Makes a home that somebody made a person's own.

use std::{fs, io, path::Path};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::id::HomeId;
use crate::{
    JournalError,
    journal::store::{home::unusable, private_files},
};

/// The databases of a home without an id.
const DATABASES: [&str; 2] = ["neuron.db", "sessions.db"];

/// What else lies in it.
const BESIDE: [&str; 8] = [
    "neuron.db-wal",
    "neuron.db-shm",
    "neuron.db-journal",
    "sessions.db-wal",
    "sessions.db-shm",
    "sessions.db-journal",
    "locks",
    "engines",
];

impl HomeId {
    /// Gives it to a home that is there in the place of the one that it may have, and takes the files of the home along.
    ///
    /// # Errors
    ///
    /// [`JournalError::Busy`] if another process uses the home, and [`JournalError::Home`] if its files cannot be moved, also
    /// because one of them is a link. Nothing is moved then.
    pub fn take_over(&self, home: &Path) -> Result<(), JournalError> {
        let files = self.files(home);
        let before = Self::find(home).map(|before| before.files(home));
        match before.filter(|before| fs::symlink_metadata(before).is_ok()) {
            Some(before) => {
                check(&before)?;
                if !before.is_dir() {
                    return Err(unusable(&before)(strange()));
                }
                fs::rename(&before, &files).map_err(unusable(&before))?;
            }
            None => gather(home, &files)?,
        }
        self.replace(home).map_err(unusable(home))
    }
}

/// Moves the files of a home without an id.
fn gather(home: &Path, to: &Path) -> Result<(), JournalError> {
    for name in DATABASES.iter().chain(&BESIDE) {
        check(&home.join(name))?;
    }
    for name in DATABASES {
        close(&home.join(name))?;
    }
    private_files::make_dir(to).map_err(unusable(to))?;
    for name in DATABASES.iter().chain(&BESIDE) {
        let from = home.join(name);
        match fs::rename(&from, to.join(name)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unusable(&from)(error)),
        }
    }
    Ok(())
}

/// What is a link leads to what is not the home's.
fn check(path: &Path) -> Result<(), JournalError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(unusable(path)(strange())),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unusable(path)(error)),
    }
}

fn strange() -> io::Error {
    io::Error::other(
        "it is a link, or no directory: remove it, or put what it leads to in its place",
    )
}

/// Has a database end its log, which no other process may have open then: its file is all that there is of it. Whatever else
/// is wrong with it stays so, and is said when it is opened.
fn close(path: &Path) -> Result<(), JournalError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let ended = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
    });
    match ended {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            Err(JournalError::from(error).explained(path))
        }
        Err(error) => {
            tracing::debug!(%error, path = %path.display(), "a database is taken over as it is");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
