//! Which patches a segment began with. They stand in `attempts`, whose rows go with their segment, as the attempt of an
//! operation that there is not.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::journal::store::{column::Micros, error::JournalError};

/// Operations are counted from 1.
const NONE: i64 = 0;

/// The patches that were written down for the segment under way; `None` if none were.
pub(crate) fn load(connection: &Connection, run: i64) -> Result<Option<Vec<String>>, JournalError> {
    let kept = connection
        .prepare_cached("SELECT fingerprint FROM attempts WHERE run = ?1 AND op = ?2")?
        .query_row([run, NONE], |row| row.get::<_, String>(0))
        .optional()?;
    Ok(kept.map(|kept| serde_json::from_str(&kept)).transpose()?)
}

/// Writes down what the segment begins with. A segment without patches costs nothing.
pub(crate) fn save(
    connection: &Connection,
    run: i64,
    patches: &[String],
    at: DateTime<Utc>,
) -> Result<(), JournalError> {
    if patches.is_empty() {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO attempts (run, op, attempt, at, label, fingerprint) \
             VALUES (?1, ?2, 1, ?3, 'patches', ?4)",
        )?
        .execute(params![
            run,
            NONE,
            Micros(at),
            serde_json::to_string(patches)?
        ])?;
    Ok(())
}
