//! The forms of times, counts and JSON in a column.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::StateVersion;
use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::de::DeserializeOwned;

/// A time as an integer: microseconds since 1970 in UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Micros(pub(crate) DateTime<Utc>);

impl ToSql for Micros {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.timestamp_micros()))
    }
}

impl FromSql for Micros {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let micros = value.as_i64()?;
        DateTime::from_timestamp_micros(micros)
            .map(Self)
            .ok_or(FromSqlError::OutOfRange(micros))
    }
}

/// Returns a count as a column has it.
pub(crate) fn row_number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the time of the wall clock, with the precision of a column: a time must not change by being journaled.
pub(crate) fn wall_clock() -> DateTime<Utc> {
    let now = Utc::now();
    DateTime::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
}

/// Returns how long it is until this time; zero if it is over.
pub(crate) fn remaining(until: DateTime<Utc>) -> Duration {
    (until - Utc::now()).to_std().unwrap_or_default()
}

/// The version of the form in which a run's input was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenIn(pub(crate) u32);

impl FromSql for WrittenIn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        StateVersion::of(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}

/// A value that was written as JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(FromSqlError::other)
    }
}
