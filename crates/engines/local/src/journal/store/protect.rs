//! Keeps a database from doing anything besides storing data.

use rusqlite::{Connection, config::DbConfig};

/// Makes a connection execute nothing that is in its database. A person who could write the file could have added
/// triggers and views, which are executed with the statements of others.
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
