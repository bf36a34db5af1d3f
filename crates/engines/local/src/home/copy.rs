//! Copies the files of a home that may be a stranger's: opening a database in place would write beside it, and would
//! execute what its author put into it.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _},
    path::Path,
};

use rusqlite::{Connection, OpenFlags};

use super::files::{DATABASE, SESSIONS};
use crate::{
    JournalError,
    journal::store::{home::unusable, protect},
    owner_files,
};

/// The tables of a journal, and those of a database of sessions.
const TABLES: [&str; 7] = [
    "runs", "statuses", "signals", "chapters", "entries", "attempts", "sessions",
];

/// The tables of older versions.
const OLDER: [&str; 3] = ["steps", "events", "sqlite_sequence"];

/// The largest file that is copied: larger than the journals of people, and smaller than what fills a disk.
const MOST: u64 = 8 * 1024 * 1024 * 1024;

/// Copies the databases of a directory into another one, including what was not copied into them from their logs yet.
/// Nothing is read through a link. What another process writes meanwhile may be missing.
///
/// # Errors
///
/// [`JournalError::Home`] if one of them cannot be copied, also because it is a link or no file, or another process is
/// in the middle of changing it in a way that neuron does not; [`JournalError::Foreign`] if it contains what neuron's
/// databases do not.
pub(crate) fn databases(from: &Path, to: &Path) -> Result<(), JournalError> {
    for name in [DATABASE, SESSIONS] {
        let database = from.join(name);
        if exists(&from.join(format!("{name}-journal"))).map_err(unusable(&database))? {
            // SQLite would play it back, and it may name other files.
            let strange = "a journal of changes lies beside it, and neuron writes none";
            return Err(unusable(&database)(io::Error::other(strange)));
        }
        for end in ["", "-wal"] {
            let (from, to) = (
                from.join(format!("{name}{end}")),
                to.join(format!("{name}{end}")),
            );
            copy(&from, &to).map_err(unusable(&from))?;
        }
        let copied = to.join(name);
        if copied.exists() {
            check(&copied, &database)?;
        }
    }
    Ok(())
}

/// Rejects a database that does more than store data.
fn check(copy: &Path, name: &Path) -> Result<(), JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let look = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(copy, flags)?;
        protect::from_contents(&connection)?;
        let mut found =
            connection.prepare("SELECT type, lower(name), coalesce(sql, '') FROM sqlite_schema")?;
        let mut rows = found.query([])?;
        while let Some(row) = rows.next()? {
            let (kind, name, sql): (String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let is_known = TABLES.iter().chain(&OLDER).any(|table| *table == name);
            let is_plain = match kind.as_str() {
                "table" => is_known && !sql.to_lowercase().contains("virtual"),
                "index" => true,
                _ => false,
            };
            if !is_plain {
                return Ok(false);
            }
        }
        Ok(true)
    };
    match look() {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::Foreign {
            path: name.to_owned(),
        }),
        Err(error) => Err(JournalError::from(error).explained(name)),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !exists(from)? {
        return Ok(());
    }
    let seen = fs::symlink_metadata(from)?;
    if seen.len() > MOST {
        let large = format!(
            "it has {} bytes: set NEURON_HOME to its directory",
            seen.len()
        );
        return Err(io::Error::other(large));
    }
    let mut from = File::open(from)?;
    if !is_same(&seen, &from.metadata()?) {
        return Err(no_file());
    }
    if to.extension().is_none_or(|end| end != "db-wal") && !is_database(&mut from)? {
        return Err(io::Error::other("it is no database"));
    }
    io::copy(&mut from, &mut owner_files::open(to)?)?;
    Ok(())
}

/// Returns whether a file begins as a database does, or is empty. The file is rewound to its start.
fn is_database(file: &mut File) -> io::Result<bool> {
    const BEGIN: &[u8] = b"SQLite format 3\0";
    let mut begin = Vec::new();
    let size = u64::try_from(BEGIN.len()).unwrap_or(u64::MAX);
    file.by_ref().take(size).read_to_end(&mut begin)?;
    file.rewind()?;
    Ok(begin.is_empty() || begin == BEGIN)
}

/// Returns whether there is a file. Anything else is an error.
fn exists(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(no_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn no_file() -> io::Error {
    io::Error::other("it is a link, or something else that neuron did not make")
}

fn is_same(seen: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (seen.dev(), seen.ino()) == (opened.dev(), opened.ino())
}
