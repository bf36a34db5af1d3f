//! The `entries` table: what a run's executor wrote, in the order in which it wrote it.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::journal::store::{
    column::{Micros, row_number},
    error::JournalError,
};

/// What is written at once: the end of an operation, the events that came before it, or both.
///
/// It is one row of one table, so that a step with its events writes no more pages than its result alone.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// Its place among the entries of the run, which is that of the end in the order of observations.
    pub(crate) place: u64,
    /// The number of the last event of the run, those of this entry included.
    pub(crate) seq: u64,
    /// The events, as JSON.
    pub(crate) events: Option<String>,
    pub(crate) end: Option<Ending<'a>>,
}

/// The result of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending<'a> {
    pub(crate) op: i64,
    pub(crate) kind: &'static str,
    pub(crate) label: &'a str,
    pub(crate) fingerprint: &'a str,
    pub(crate) result: &'a str,
    pub(crate) at: DateTime<Utc>,
}

/// Returns the row of the entry at this place. Each run has room for four billion.
pub(crate) fn row_at(run: i64, place: u64) -> i64 {
    (run << 32) + row_number(place)
}

/// Returns the last row that an entry of the run can have.
pub(crate) fn last_row(run: i64) -> i64 {
    row_at(run, u32::MAX.into())
}

/// Returns the place of the entry in this row.
pub(crate) fn place_of(row: i64) -> u64 {
    (row & i64::from(u32::MAX)).unsigned_abs()
}

/// Writes an entry, in one statement.
pub(crate) fn append(
    connection: &Connection,
    run: i64,
    entry: &Entry<'_>,
) -> Result<(), JournalError> {
    let Entry {
        place,
        seq,
        events,
        end,
    } = entry;
    connection
        .prepare_cached(
            "INSERT INTO entries (id, run, seq, op, at, kind, label, fingerprint, events, result) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            row_at(run, *place),
            run,
            row_number(*seq),
            end.map(|end| end.op),
            end.map(|end| Micros(end.at)),
            end.map(|end| end.kind),
            end.map(|end| end.label),
            end.map(|end| end.fingerprint),
            events,
            end.map(|end| end.result)
        ])?;
    Ok(())
}

/// Returns the result of the run's first operation of this kind, as long as it exists.
pub(crate) fn first_of(
    connection: &Connection,
    run: i64,
    kind: &str,
) -> Result<Option<String>, JournalError> {
    let rows = (row_at(run, 0), last_row(run), kind);
    Ok(connection
        .prepare_cached(
            "SELECT result FROM entries WHERE id BETWEEN ?1 AND ?2 AND kind = ?3 ORDER BY id LIMIT 1",
        )?
        .query_row(rows, |entry| entry.get(0))
        .optional()?)
}

/// Returns the place of the run's last entry and the number of its last event; zeros if there is no entry.
pub(crate) fn last(connection: &Connection, run: i64) -> Result<(u64, u64), JournalError> {
    let last = connection
        .prepare_cached(
            "SELECT id, seq FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        )?
        .query_row([row_at(run, 0), last_row(run)], |entry| {
            Ok((
                place_of(entry.get(0)?),
                entry.get::<_, i64>(1)?.unsigned_abs(),
            ))
        })
        .optional()?;
    Ok(last.unwrap_or_default())
}

/// Drops the ends behind this place, and keeps the events.
pub(crate) fn drop_ends(
    connection: &Connection,
    run: i64,
    after_place: u64,
) -> Result<(), JournalError> {
    let rows = [row_at(run, after_place), last_row(run)];
    connection
        .prepare_cached("DELETE FROM entries WHERE id > ?1 AND id <= ?2 AND events IS NULL")?
        .execute(rows)?;
    connection
        .prepare_cached(
            "UPDATE entries SET op = NULL, at = NULL, kind = NULL, label = NULL, \
             fingerprint = NULL, result = NULL WHERE id > ?1 AND id <= ?2 AND op IS NOT NULL",
        )?
        .execute(rows)?;
    Ok(())
}
