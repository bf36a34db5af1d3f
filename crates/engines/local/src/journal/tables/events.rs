//! The `events` table.

use neuron_types::RecordedEvent;
use rusqlite::{Connection, params};

use crate::journal::store::{
    column::{Json, Micros},
    error::JournalError,
};

/// A number of an event as the table has it.
pub(crate) fn row_number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(crate) fn load(
    connection: &Connection,
    run: i64,
    after_seq: u64,
) -> Result<Vec<RecordedEvent>, JournalError> {
    load_first(connection, run, after_seq, usize::MAX)
}

pub(crate) fn load_first(
    connection: &Connection,
    run: i64,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<RecordedEvent>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, event FROM events WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![run, row_number(after_seq), limit], |row| {
        let Micros(at) = row.get(1)?;
        let Json(event) = row.get(2)?;
        let seq = row.get::<_, i64>(0)?.unsigned_abs();
        Ok(RecordedEvent { seq, at, event })
    })?;
    rows.map(|row| Ok(row?)).collect()
}

pub(crate) fn append(
    connection: &Connection,
    run: i64,
    events: &[RecordedEvent],
) -> Result<(), JournalError> {
    let mut statement = connection
        .prepare_cached("INSERT INTO events (run, seq, at, event) VALUES (?1, ?2, ?3, ?4)")?;
    for RecordedEvent { seq, at, event } in events {
        statement.execute(params![
            run,
            row_number(*seq),
            Micros(*at),
            serde_json::to_string(event)?
        ])?;
    }
    Ok(())
}

/// The number of the run's last event; 0 if it has none.
pub(crate) fn last(connection: &Connection, run: i64) -> Result<u64, JournalError> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(seq) FROM events WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(last.unwrap_or(0).unsigned_abs())
}
