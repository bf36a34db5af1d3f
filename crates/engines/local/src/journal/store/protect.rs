//! Keeps a database from doing anything but to keep what is put into it.

use rusqlite::{Connection, config::DbConfig};

/// Has a connection take nothing that stands in its database for something to do. Whoever could write the file could have put
/// triggers and views into it, which are executed with what others ask of it.
pub(crate) fn from_contents(connection: &Connection) -> rusqlite::Result<()> {
    for (config, value) in [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        connection.set_db_config(config, value)?;
    }
    Ok(())
}
