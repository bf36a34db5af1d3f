//! The patches that a segment began with. They are in `attempts`, whose rows are removed with their segment, as the
//! attempt of an operation that does not exist.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::journal::store::{column::Micros, error::JournalError};

/// Operations are counted from 1.
const NONE: i64 = 0;

/// Returns the patches that were recorded for the current segment; `None` if none were.
pub(crate) fn load(connection: &Connection, run: i64) -> Result<Option<Vec<String>>, JournalError> {
    let kept = connection
        .prepare_cached("SELECT fingerprint FROM attempts WHERE run = ?1 AND op = ?2")?
        .query_row([run, NONE], |row| row.get::<_, String>(0))
        .optional()?;
    Ok(kept.map(|kept| serde_json::from_str(&kept)).transpose()?)
}

/// Records the patches that the segment begins with. A segment without patches costs nothing.
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
