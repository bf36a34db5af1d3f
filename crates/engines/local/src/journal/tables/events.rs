//! The events of a run, which are in its entries.

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent};
use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::journal::{
    store::{
        column::{Json, row_number},
        error::JournalError,
    },
    tables::entries::{self, last_row, row_at},
};

/// An event as an entry keeps it: `[microseconds since 1970 in UTC, event]`. Its number is that of the entry, less
/// the events behind it.
#[derive(Serialize, Deserialize)]
struct Kept<E>(
    #[serde(with = "chrono::serde::ts_microseconds")] DateTime<Utc>,
    E,
);

/// Returns the events as one entry keeps them; `None` if the list is empty.
pub(crate) fn kept(events: &[RecordedEvent]) -> Result<Option<String>, JournalError> {
    if events.is_empty() {
        return Ok(None);
    }
    let kept: Vec<Kept<&RunEvent>> = events
        .iter()
        .map(|recorded| Kept(recorded.at, &recorded.event))
        .collect();
    Ok(Some(serde_json::to_string(&kept)?))
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
    let mut events = Vec::new();
    let Some(first) = first_row_behind(connection, run, after_seq)? else {
        return Ok(events);
    };
    let mut statement = connection.prepare_cached(
        "SELECT seq, events FROM entries \
         WHERE id BETWEEN ?1 AND ?2 AND events IS NOT NULL ORDER BY id",
    )?;
    let rows = statement.query_map([first, last_row(run)], |entry| {
        let Json(kept) = entry.get::<_, Json<Vec<Kept<RunEvent>>>>(1)?;
        Ok((entry.get::<_, i64>(0)?.unsigned_abs(), kept))
    })?;
    for row in rows {
        let (last, kept) = row?;
        let before = last.saturating_sub(kept.len() as u64);
        for (seq, Kept(at, event)) in (before + 1..).zip(kept) {
            if events.len() == limit {
                return Ok(events);
            }
            if seq > after_seq {
                events.push(RecordedEvent { seq, at, event });
            }
        }
    }
    Ok(events)
}

/// Returns a row from which on all entries with events behind this number follow; `None` if there is no such entry.
///
/// There is no index for that: it would be another page to write in every step. The numbers grow from entry to entry,
/// so that the row is found in few looks.
fn first_row_behind(
    connection: &Connection,
    run: i64,
    after_seq: u64,
) -> Result<Option<i64>, JournalError> {
    let (last_place, last_seq) = entries::last(connection, run)?;
    if last_seq <= after_seq {
        return Ok(None);
    }
    let mut next = connection.prepare_cached(
        "SELECT id, seq FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1",
    )?;
    let (mut low, mut high) = (row_at(run, 0), row_at(run, last_place));
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = next
            .query_row([middle, high], |entry| Ok((entry.get(0)?, entry.get(1)?)))
            .optional()?;
        match found {
            Some((row, seq)) if seq <= row_number(after_seq) => low = row + 1,
            // If the row does not exist any more, a segment that began just now has dropped it.
            _ => high = middle,
        }
    }
    Ok(Some(low))
}
