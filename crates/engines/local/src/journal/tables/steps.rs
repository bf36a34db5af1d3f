//! The operations of a run, and the `attempts` table.

use chrono::{DateTime, Utc};
use neuron_types::{DurableError, EffectKind, End, Handle, Outcome, StepFailure};
use rusqlite::{Connection, params};

use crate::journal::{
    store::{column::Micros, error::JournalError},
    tables::entries::{self, Ending},
};

/// A request to the door, and its place in the run.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) op: i64,
    pub(crate) kind: Kind,
    /// The place in the run, for people.
    pub(crate) label: String,
    /// The request, in words. The same in every replay.
    pub(crate) fingerprint: String,
}

impl Operation {
    /// Returns a wait for one of these signals, and for nothing else that has a name.
    pub(crate) fn wait(op: i64, names: &[&str]) -> Self {
        Self {
            op,
            kind: Kind::Wait,
            label: "wait".to_owned(),
            fingerprint: format!("wait for signal {}", names.join(" or ")),
        }
    }

    /// Returns its result, as an entry has it.
    pub(crate) fn ending<'a>(&'a self, result: &'a str, at: DateTime<Utc>) -> Ending<'a> {
        Ending {
            op: self.op,
            kind: self.kind.as_str(),
            label: &self.label,
            fingerprint: &self.fingerprint,
            result,
            at,
        }
    }

    /// Returns the handle of what was started under this number.
    pub(crate) fn handle(&self) -> Handle {
        Handle::new(self.op.unsigned_abs())
    }
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Effect(EffectKind),
    Deadline,
    /// A wait or a poll that took a signal.
    Wait,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Effect(kind) => kind.as_str(),
            Self::Deadline => "deadline",
            Self::Wait => "wait",
        }
    }

    /// Reads the result of what was started. Returns `None` if it is the result of something else.
    pub(crate) fn read_end(self, result: &str) -> Result<Option<End>, DurableError> {
        let Self::Effect(kind) = self else {
            return Ok(Some(End::Deadline));
        };
        let result: Result<Outcome, StepFailure> =
            serde_json::from_str(result).map_err(DurableError::engine)?;
        let fits = result
            .as_ref()
            .map_or(true, |outcome| outcome.kind() == kind);
        Ok(fits.then_some(End::Effect(result)))
    }
}

/// Drops everything that is recorded of a run's operations behind this place.
pub(crate) fn clear(
    connection: &Connection,
    run: i64,
    after_place: u64,
) -> Result<(), JournalError> {
    connection
        .prepare_cached("DELETE FROM attempts WHERE run = ?1")?
        .execute([run])?;
    entries::drop_ends(connection, run, after_place)
}

/// How many failed attempts of a step are kept one by one. Of later ones only the newest is kept, however many there
/// are.
const KEPT: u32 = 5;

/// Stores an attempt: one that failed and is followed by another at a time, or one that is about to be made.
pub(crate) fn attempt(
    connection: &Connection,
    run: i64,
    operation: &Operation,
    attempt: u32,
    at: DateTime<Utc>,
    failed: Option<(&StepFailure, DateTime<Utc>)>,
) -> Result<(), JournalError> {
    let failure = failed.map(|(failure, _)| serde_json::to_string(failure));
    let failure = failure.transpose()?;
    if attempt > KEPT + 1 {
        connection
            .prepare_cached("DELETE FROM attempts WHERE run = ?1 AND op = ?2 AND attempt > ?3")?
            .execute(params![run, operation.op, KEPT])?;
    }
    connection
        .prepare_cached(
            "INSERT INTO attempts (run, op, attempt, at, failure, due_at, label, fingerprint) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            run,
            operation.op,
            attempt,
            Micros(at),
            failure,
            failed.map(|(_, due_at)| Micros(due_at)),
            operation.label,
            operation.fingerprint
        ])?;
    Ok(())
}
