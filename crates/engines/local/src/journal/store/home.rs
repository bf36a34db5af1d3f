//! The home directory: its creation, and the database in it.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use neuron_types::Place;
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{
    home::files::HomePaths,
    journal::store::{
        error::JournalError, journal_options::JournalOptions, private_files, protect, schema,
    },
    owner_files,
};

/// How long a statement waits for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of pages after which the log is copied into the database and written from its start again. SQLite's
/// default is 1,000, but overwriting a page takes half the time of extending the log's file by a page.
const LOG_PAGES: i64 = 250;

/// More statements than the journal has.
const CACHED_STATEMENTS: usize = 64;

/// The value of `auto_vacuum` with which free pages are returned on request.
const INCREMENTAL: i64 = 2;

/// Returns free pages to the file system. A database of an older neuron is rewritten for that, once.
pub(crate) fn drain_free_pages(connection: &mut Connection) -> Result<(), JournalError> {
    let found: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    if found == INCREMENTAL {
        // Each step returns one page.
        let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
    } else {
        connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
        connection.execute_batch("VACUUM")?;
    }
    // Into the database's own file, which is truncated then.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Returns the place of the runs of this home directory, whichever path names it.
pub(crate) fn place(home: &Path) -> io::Result<Place> {
    let home = home.canonicalize()?;
    Ok(Place::Local {
        home: home.to_string_lossy().into_owned(),
    })
}

pub(crate) fn unusable(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_path_buf();
    move |source| JournalError::Home { path, source }
}

/// Opens the database, and makes it and its directory if they are missing.
pub(crate) fn open(
    paths: &HomePaths,
    options: &JournalOptions,
) -> Result<Connection, JournalError> {
    private_files::prepare_home(&paths.home)?;
    for directory in [&paths.files, &paths.locks] {
        owner_files::make_dir(directory).map_err(unusable(directory))?;
    }
    // Switching to the write-ahead log and making tables must not be tried by two processes at once. No
    // run's name starts with a dot.
    let gate = paths.lock(".journal");
    let guard = open_lock(&gate)?;
    guard.lock().map_err(unusable(&gate))?;
    let path = paths.database();
    private_files::tighten(&path);
    open_database(&path, &path, options).map_err(|error| error.explained(&path))
}

/// Opens the copy of a database. Errors name it by this name.
pub(crate) fn open_copy(copy: &Path, name: &Path) -> Result<Connection, JournalError> {
    let options = JournalOptions::default();
    open_database(copy, name, &options).map_err(|error| error.explained(name))
}

fn open_database(
    path: &Path,
    name: &Path,
    options: &JournalOptions,
) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    protect::from_contents(&connection)?;
    connection.busy_timeout(options.lock_timeout.unwrap_or(BUSY_TIMEOUT))?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Without this SQLite prepares a statement anew whenever a value is bound that might make another plan better.
    // That takes as long as executing many a statement, and half as long as a commit.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let version = schema::check(&connection, name)?;
    if version == 0 {
        // Before the first page is written: removed runs return their pages.
        connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    }
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if let Some(bytes) = options.max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        // 0 would mean that the limit stays what it is.
        let pages = pages.max(1);
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    schema::upgrade(&mut connection, version)?;
    Ok(connection)
}

/// Opens the database for reading. Nothing is created or upgraded.
pub(crate) fn open_read_only(paths: &HomePaths) -> Result<Connection, JournalError> {
    let path = paths.database();
    let opened = match read_only(&path, &path, OpenFlags::empty()) {
        // If no file can be created beside it, the database is read as if it could not change: what was not copied
        // into it from its log yet is not seen.
        Err(JournalError::Database(error)) if is_closed(&error) => {
            let uri = PathBuf::from(immutable(&path));
            read_only(&path, &uri, OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    };
    opened.map_err(|error| error.explained(&path))
}

fn read_only(path: &Path, name: &Path, more: OpenFlags) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(name, flags)?;
    protect::from_contents(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    let found = schema::check(&connection, path)?;
    if found < schema::VERSION {
        return Err(JournalError::Older {
            path: path.to_path_buf(),
            found,
            known: schema::VERSION,
        });
    }
    Ok(connection)
}

fn is_closed(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Returns the name under which SQLite treats a file as one that does not change.
fn immutable(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = path.replace('%', "%25");
    let path = path.replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

pub(crate) fn open_lock(path: &Path) -> Result<File, JournalError> {
    owner_files::open(path).map_err(unusable(path))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_database_that_cannot_change_is_read_by_its_name_alone() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("50% #1?");
        drop(open(&HomePaths::of(&home), &JournalOptions::default()).unwrap());
        let path = HomePaths::of(&home).database();
        let uri = PathBuf::from(immutable(&path));
        let connection = read_only(&path, &uri, OpenFlags::SQLITE_OPEN_URI).unwrap();
        let runs: i64 = connection
            .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
            .unwrap();
        assert_eq!(runs, 0);
        let written = connection.execute("DELETE FROM runs", []).unwrap_err();
        assert_eq!(written.sqlite_error_code(), Some(ErrorCode::ReadOnly));
    }

    #[test]
    fn a_statement_is_prepared_once_whatever_it_is_executed_with() {
        let home = tempfile::tempdir().unwrap();
        let connection = open(&HomePaths::of(home.path()), &JournalOptions::default()).unwrap();
        for query in [
            "SELECT id FROM signals WHERE run = ?1 AND name = ?2 AND consumed_op IS NULL",
            "SELECT op FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1",
            "SELECT seq FROM chapters WHERE run < ?1 ORDER BY run DESC LIMIT ?2",
        ] {
            let mut statement = connection.prepare(query).unwrap();
            for run in 1..=3 {
                assert!(!statement.exists([run, run]).unwrap());
            }
            assert_eq!(statement.get_status(StatementStatus::Run), 3, "{query}");
            assert_eq!(
                statement.get_status(StatementStatus::RePrepare),
                0,
                "{query}"
            );
        }
    }
}
