//! What the journal has of a run's operations.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_flow::StepLife;
use neuron_types::StepFailure;
use rusqlite::Connection;

use crate::journal::{
    store::{
        column::{Json, Micros},
        error::JournalError,
    },
    tables::entries::{last_row, place_of, row_at},
};

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
    /// Attempts failed.
    Failing(StepLife),
}

/// The result of an operation.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) result: String,
    pub(crate) at: DateTime<Utc>,
    /// Its place in the order of observations.
    pub(crate) place: u64,
}

/// What the journal has of the operations of a segment, as far as it has to be known before they are requested.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The row of the end of each operation that has one.
    ends: BTreeMap<i64, i64>,
    /// The last operation with an attempt; 0 if no attempt is kept.
    last_attempted: i64,
    /// The sum of the numbers of the attempts that are kept: each attempt changes it.
    attempts: i64,
}

impl Recording {
    /// Looks up what was journaled behind this place.
    pub(crate) fn load(
        connection: &Connection,
        run: i64,
        after_place: u64,
    ) -> Result<Self, JournalError> {
        let mut statement = connection.prepare_cached(
            "SELECT op, id FROM entries WHERE id > ?1 AND id <= ?2 AND op IS NOT NULL",
        )?;
        let rows = statement.query_map([row_at(run, after_place), last_row(run)], |entry| {
            Ok((entry.get::<_, i64>(0)?, entry.get::<_, i64>(1)?))
        })?;
        let ends = rows.collect::<rusqlite::Result<BTreeMap<_, _>>>()?;
        let (last_attempted, attempts) = connection
            .prepare_cached(
                "SELECT coalesce(max(op), 0), coalesce(sum(attempt), 0) FROM attempts WHERE run = ?1",
            )?
            .query_row([run], |kept| Ok((kept.get(0)?, kept.get(1)?)))?;
        Ok(Self {
            ends,
            last_attempted,
            attempts,
        })
    }

    /// Returns the last operation with any record; 0 if there is no record.
    pub(crate) fn last(&self) -> i64 {
        let last_ended = self.ends.keys().next_back().copied();
        last_ended.unwrap_or_default().max(self.last_attempted)
    }

    /// Returns how far the recording goes. Another end or attempt changes the value.
    pub(crate) fn reached(&self) -> Reached {
        let last_row = self.ends.values().max();
        Reached {
            place: last_row.map_or(0, |row| place_of(*row)),
            attempts: self.attempts,
        }
    }

    /// Returns what is recorded of the operations from `first` to `last`, in their order.
    pub(crate) fn read(
        &self,
        connection: &Connection,
        run: i64,
        first: i64,
        last: i64,
    ) -> Result<Vec<Recorded>, JournalError> {
        let mut recorded = attempted(connection, run, first, last)?;
        let ended = self.ends.range(first..);
        for (&op, &row) in ended.take_while(|(op, _)| **op <= last) {
            recorded.insert(op, ended_in(connection, op, row)?);
        }
        Ok(recorded.into_values().collect())
    }
}

/// How far a recording goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The place of the last end; 0 if nothing has ended.
    pub(crate) place: u64,
    /// The sum that identifies the attempts that are kept.
    pub(crate) attempts: i64,
}

/// Returns the end of an operation, which is in this row.
fn ended_in(connection: &Connection, op: i64, row: i64) -> Result<Recorded, JournalError> {
    Ok(connection
        .prepare_cached("SELECT fingerprint, result, at, kind = 'wait' FROM entries WHERE id = ?1")?
        .query_row([row], |entry| {
            let Micros(at) = entry.get(2)?;
            Ok(Recorded {
                op,
                is_wait: entry.get(3)?,
                fingerprint: entry.get(0)?,
                progress: Progress::Done(Done {
                    result: entry.get(1)?,
                    at,
                    place: place_of(row),
                }),
            })
        })?)
}

/// Returns how far these operations had come at their last attempt that was kept.
fn attempted(
    connection: &Connection,
    run: i64,
    first: i64,
    last: i64,
) -> Result<BTreeMap<i64, Recorded>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT op, attempt, failure, due_at, fingerprint, at FROM attempts \
         WHERE run = ?1 AND op BETWEEN ?2 AND ?3 ORDER BY op, attempt",
    )?;
    let rows = statement.query_map([run, first, last], |attempt| {
        let due_at: Option<Micros> = attempt.get(3)?;
        let Micros(at) = attempt.get(5)?;
        let failure: Option<Json<StepFailure>> = attempt.get(2)?;
        let progress = match failure {
            None => Progress::Lost,
            Some(Json(failure)) => {
                let (failed, due) = (attempt.get(1)?, due_at.map(|Micros(at)| at));
                Progress::Failing(StepLife::after(failed, Some(at), due, failure.spent))
            }
        };
        Ok(Recorded {
            op: attempt.get(0)?,
            is_wait: false,
            fingerprint: attempt.get(4)?,
            progress,
        })
    })?;
    let mut attempted = BTreeMap::<i64, Recorded>::new();
    for row in rows {
        let mut recorded = row?;
        let before = attempted.get(&recorded.op).map(|before| &before.progress);
        if let (Progress::Failing(life), Some(Progress::Failing(before))) =
            (&mut recorded.progress, before)
        {
            *life = life.clone().failing_since(before.since());
        }
        // A later attempt replaces those before it.
        attempted.insert(recorded.op, recorded);
    }
    Ok(attempted)
}
