//! The `steps` and `attempts` tables.

use chrono::{DateTime, Utc};
use neuron_types::{DurableError, End, Handle, StepFailure};
use rusqlite::{Connection, params};
use serde::de::DeserializeOwned;

use crate::journal::{
    store::{column::Micros, error::JournalError},
    tables::events::row_number,
};

/// What a door call asks for, and its place in the run.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) op: i64,
    pub(crate) kind: Kind,
    /// Where in the run, for people.
    pub(crate) label: String,
    /// What is asked, in words. The same in every replay.
    pub(crate) fingerprint: String,
}

impl Operation {
    /// A wait for one of these signals, and for nothing else that has a name.
    pub(crate) fn wait(op: i64, names: &[&str]) -> Self {
        Self {
            op,
            kind: Kind::Wait,
            label: "wait".to_owned(),
            fingerprint: format!("wait for signal {}", names.join(" or ")),
        }
    }

    /// What was started under this number.
    pub(crate) fn handle(&self) -> Handle {
        Handle::new(self.op.unsigned_abs())
    }
}

/// What kind of operation it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Model,
    Tool,
    Deadline,
    /// A wait or a poll that took a signal.
    Wait,
    /// The check of the run's input, which the loop does not ask for.
    Input,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Deadline => "deadline",
            Self::Wait => "wait",
            Self::Input => "input",
        }
    }

    /// Reads the result of what was started.
    pub(crate) fn read_end(self, result: &str) -> Result<End, DurableError> {
        Ok(match self {
            Self::Model => End::Model(read(result)?),
            Self::Tool | Self::Wait | Self::Input => End::Tool(read(result)?),
            Self::Deadline => End::Deadline,
        })
    }
}

fn read<T: DeserializeOwned>(result: &str) -> Result<T, DurableError> {
    serde_json::from_str(result).map_err(DurableError::engine)
}

/// What the journal has of an operation.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) op: i64,
    pub(crate) is_wait: bool,
    pub(crate) fingerprint: String,
    pub(crate) progress: Progress,
}

#[derive(Debug)]
pub(crate) enum Progress {
    /// It has a result.
    Done(Done),
    /// A write was started: whether it took effect is not known.
    Lost,
    /// So many attempts failed; the next attempt is due at this time.
    Due {
        attempts: u32,
        due_at: Option<DateTime<Utc>>,
    },
}

/// The result of an operation.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) result: String,
    pub(crate) at: DateTime<Utc>,
    /// Its place in the order of observations.
    pub(crate) place: u64,
}

/// The row of an operation. Each run has room for four billion.
const fn row(run: i64, op: i64) -> i64 {
    (run << 32) + op
}

/// What there is of the operations from `first` to `last`, in their order.
pub(crate) fn load(
    connection: &Connection,
    run: i64,
    first: i64,
    last: i64,
) -> Result<Vec<Recorded>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT op, fingerprint, result, at, place, due_at, kind = 'wait' FROM steps \
         WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
    )?;
    // The last one may be more than there is room for.
    let last = last.min(i64::from(u32::MAX));
    let rows = statement.query_map([row(run, first), row(run, last)], |row| {
        let done = match (row.get(2)?, row.get::<_, Option<Micros>>(3)?) {
            (Some(result), Some(Micros(at))) => Some(Done {
                result,
                at,
                place: row.get::<_, i64>(4)?.unsigned_abs(),
            }),
            _ => None,
        };
        let due_at = row.get::<_, Option<Micros>>(5)?.map(|Micros(at)| at);
        let (op, fingerprint): (_, String) = (row.get(0)?, row.get(1)?);
        Ok((op, row.get(6)?, fingerprint, done, due_at))
    })?;
    rows.map(|row| {
        let (op, is_wait, fingerprint, done, due_at) = row?;
        let progress = match done {
            Some(done) => Progress::Done(done),
            None => pending(connection, run, op, due_at)?,
        };
        Ok(Recorded {
            op,
            is_wait,
            fingerprint,
            progress,
        })
    })
    .collect()
}

fn pending(
    connection: &Connection,
    run: i64,
    op: i64,
    due_at: Option<DateTime<Utc>>,
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
        Progress::Due { attempts, due_at }
    })
}

/// The last operation that the journal has anything of, and the last place in the order of observations; 0
/// where there is none.
pub(crate) fn last(connection: &Connection, run: i64) -> Result<(i64, u64), JournalError> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(max(op), 0), coalesce(max(place), 0) FROM steps \
             WHERE id BETWEEN ?1 AND ?2",
        )?
        .query_row([row(run, 0), row(run, i64::from(u32::MAX))], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })?)
}

/// Makes the row of an operation that has no result yet, or changes when it is due.
pub(crate) fn begin(
    connection: &Connection,
    run: i64,
    operation: &Operation,
    due_at: Option<DateTime<Utc>>,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO steps (id, run, op, kind, label, fingerprint, due_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
             ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at",
        )?
        .execute(params![
            row(run, operation.op),
            run,
            operation.op,
            operation.kind.as_str(),
            operation.label,
            operation.fingerprint,
            due_at.map(Micros)
        ])?;
    Ok(())
}

/// Drops all that there is of a run's operations.
pub(crate) fn clear(connection: &Connection, run: i64) -> Result<(), JournalError> {
    connection
        .prepare_cached("DELETE FROM attempts WHERE run = ?1")?
        .execute([run])?;
    connection
        .prepare_cached("DELETE FROM steps WHERE id BETWEEN ?1 AND ?2")?
        .execute([row(run, 0), row(run, i64::from(u32::MAX))])?;
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
    operation: &Operation,
    result: &str,
    at: DateTime<Utc>,
    place: u64,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO steps (id, run, op, kind, label, fingerprint, result, at, place) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             ON CONFLICT (id) DO UPDATE \
             SET result = excluded.result, at = excluded.at, place = excluded.place, due_at = NULL",
        )?
        .execute(params![
            row(run, operation.op),
            run,
            operation.op,
            operation.kind.as_str(),
            operation.label,
            operation.fingerprint,
            result,
            Micros(at),
            row_number(place)
        ])?;
    Ok(())
}
