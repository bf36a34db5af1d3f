//! Chapters: a long run goes on from its state, and the steps that led there are dropped.

use chrono::{DateTime, Utc};
use neuron_types::{RunId, RunInput, RunStart, RunState};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{
    Journal, JournalError,
    column::{Json, Micros},
    events::row_number,
    runs::load_input,
};

/// When a run goes on in a new chapter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Longest {
    pub(crate) operations: u64,
    /// Of results.
    pub(crate) bytes: u64,
}

impl Default for Longest {
    fn default() -> Self {
        Self {
            operations: 4_000,
            bytes: 32 * 1024 * 1024,
        }
    }
}

/// What a run had counted when a chapter of it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// Counted from 1.
    pub(crate) chapter: u64,
    pub(crate) op: i64,
    pub(crate) seq: u64,
    pub(crate) uuids: u64,
    pub(crate) now: DateTime<Utc>,
}

impl Beginning {
    /// That of the first chapter.
    pub(crate) fn of_run(created_at: DateTime<Utc>) -> Self {
        Self {
            chapter: 1,
            op: 0,
            seq: 0,
            uuids: 0,
            now: created_at,
        }
    }
}

impl Journal {
    /// Which chapter of its journal the run is in, counted from 1.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn chapter(&self, run_id: &RunId) -> Result<u64, JournalError> {
        self.of_run(run_id, |connection, run| {
            let beginning = load(connection, run)?;
            Ok(beginning.map_or(1, |beginning| beginning.chapter))
        })
        .await
    }
}

/// Where the newest chapter began; `None` in the first.
pub(crate) fn load(connection: &Connection, run: i64) -> Result<Option<Beginning>, JournalError> {
    Ok(connection
        .prepare_cached("SELECT chapter, op, seq, uuids, at FROM chapters WHERE run = ?1")?
        .query_row([run], |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            let Micros(now) = row.get(4)?;
            Ok(Beginning {
                chapter: count(0)?,
                op: row.get(1)?,
                seq: count(2)?,
                uuids: count(3)?,
                now,
            })
        })
        .optional()?)
}

/// What the loop of the newest chapter starts with.
pub(crate) fn load_start(connection: &Connection, run: i64) -> Result<RunStart, JournalError> {
    let state: Option<Json<RunState>> = connection
        .prepare_cached("SELECT state FROM chapters WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(match state {
        Some(Json(state)) => state.into(),
        None => RunInput::into(load_input(connection, run)?),
    })
}

/// Begins a chapter. The steps before it are never replayed again.
pub(crate) fn begin(
    transaction: &Transaction<'_>,
    run: i64,
    beginning: &Beginning,
    state: &str,
) -> Result<(), JournalError> {
    let Beginning {
        chapter,
        op,
        seq,
        uuids,
        now,
    } = *beginning;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO chapters (run, chapter, op, seq, uuids, at, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            run,
            row_number(chapter),
            op,
            row_number(seq),
            row_number(uuids),
            Micros(now),
            state
        ])?;
    for table in ["attempts", "steps"] {
        transaction
            .prepare_cached(&format!("DELETE FROM {table} WHERE run = ?1"))?
            .execute([run])?;
    }
    Ok(())
}
