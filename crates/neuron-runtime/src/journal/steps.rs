//! The `steps` and `attempts` tables.

use chrono::{DateTime, Utc};
use neuron_types::StepFailure;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{JournalError, column::Micros};

/// What a door call asks for, and its place in the run.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) op: i64,
    /// `model`, `tool`, `sleep`, `wait`.
    pub(crate) kind: &'static str,
    /// Where in the run, for people.
    pub(crate) label: String,
    /// What is asked, in words. The same in every replay.
    pub(crate) fingerprint: String,
}

/// What the journal has of an operation.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) fingerprint: String,
    pub(crate) progress: Progress,
}

#[derive(Debug)]
pub(crate) enum Progress {
    /// It has a result.
    Done { result: String, at: DateTime<Utc> },
    /// A write was started: whether it took effect is not known.
    Lost,
    /// So many attempts failed; the next attempt, or the end of a sleep, is due at this time.
    Due {
        attempts: u32,
        due_at: Option<DateTime<Utc>>,
    },
}

pub(crate) fn load(
    connection: &Connection,
    run: i64,
    op: i64,
) -> Result<Option<Recorded>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT fingerprint, result, at, due_at FROM steps WHERE run = ?1 AND op = ?2",
    )?;
    let row = statement.query_row([run, op], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, Option<String>>(1)?,
            row.get::<_, Option<Micros>>(2)?,
            row.get::<_, Option<Micros>>(3)?,
        ))
    });
    let Some((fingerprint, result, at, due_at)) = row.optional()? else {
        return Ok(None);
    };
    let progress = match (result, at) {
        (Some(result), Some(Micros(at))) => Progress::Done { result, at },
        _ => pending(connection, run, op, due_at)?,
    };
    Ok(Some(Recorded {
        fingerprint,
        progress,
    }))
}

fn pending(
    connection: &Connection,
    run: i64,
    op: i64,
    due_at: Option<Micros>,
) -> Result<Progress, JournalError> {
    let (attempts, lost) = connection
        .prepare_cached(
            "SELECT coalesce(max(attempt), 0), coalesce(max(failure IS NULL), 0) \
             FROM attempts WHERE run = ?1 AND op = ?2",
        )?
        .query_row([run, op], |row| {
            Ok((row.get::<_, u32>(0)?, row.get::<_, bool>(1)?))
        })?;
    Ok(if lost {
        Progress::Lost
    } else {
        let due_at = due_at.map(|Micros(at)| at);
        Progress::Due { attempts, due_at }
    })
}

/// The last operation that the journal has anything of; 0 if there is none.
pub(crate) fn last(connection: &Connection, run: i64) -> Result<i64, JournalError> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(op), 0) FROM steps WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?)
}

/// Makes the row of an operation that has no result yet, or changes when it is due.
pub(crate) fn begin(
    connection: &Connection,
    run: i64,
    asked: &Asked,
    due_at: Option<DateTime<Utc>>,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO steps (run, op, kind, label, fingerprint, due_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (run, op) DO UPDATE SET due_at = excluded.due_at",
        )?
        .execute(params![
            run,
            asked.op,
            asked.kind,
            asked.label,
            asked.fingerprint,
            due_at.map(Micros)
        ])?;
    Ok(())
}

/// Keeps an attempt: one that failed, or one that is about to be made.
pub(crate) fn attempt(
    connection: &Connection,
    run: i64,
    op: i64,
    attempt: u32,
    at: DateTime<Utc>,
    failure: Option<&StepFailure>,
) -> Result<(), JournalError> {
    let failure = failure.map(serde_json::to_string).transpose()?;
    connection
        .prepare_cached(
            "INSERT INTO attempts (run, op, attempt, at, failure) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![run, op, attempt, Micros(at), failure])?;
    Ok(())
}

/// Keeps what came of an operation.
pub(crate) fn finish(
    connection: &Connection,
    run: i64,
    asked: &Asked,
    result: &str,
    at: DateTime<Utc>,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO steps (run, op, kind, label, fingerprint, result, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (run, op) DO UPDATE \
             SET result = excluded.result, at = excluded.at, due_at = NULL",
        )?
        .execute(params![
            run,
            asked.op,
            asked.kind,
            asked.label,
            asked.fingerprint,
            result,
            Micros(at)
        ])?;
    Ok(())
}
