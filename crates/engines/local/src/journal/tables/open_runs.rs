//! The runs that are not over, as a worker looks at them.

use neuron_types::RunId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::journal::{
    store::{error::JournalError, journal::Journal},
    tables::entries::{last_row, row_at},
};

/// A run that is not over.
#[derive(Debug, Clone)]
pub(crate) struct OpenRun {
    pub(crate) run_id: RunId,
    /// The row of its last entry; 0 if it has none.
    pub(crate) last_entry: i64,
    /// The number of the last signal that it has not taken; 0 if there is no signal.
    pub(crate) last_signal: i64,
}

impl Journal {
    /// Returns the runs that are not over, the oldest first.
    pub(crate) async fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        self.call(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT runs.run, runs.run_id FROM statuses JOIN runs USING (run) \
                 WHERE statuses.output IS NULL ORDER BY runs.run",
            )?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })?;
            let mut open = Vec::new();
            for row in rows {
                let (run, name) = row?;
                // Ids are checked when runs are created.
                let Ok(run_id) = RunId::new(name) else {
                    continue;
                };
                open.push(OpenRun {
                    run_id,
                    last_entry: last_entry(connection, run)?,
                    last_signal: last_signal(connection, run)?,
                });
            }
            Ok(open)
        })
        .await
    }

    /// Returns the row of the run's last entry; 0 if it has none.
    pub(crate) async fn last_entry(&self, run_id: &RunId) -> Result<i64, JournalError> {
        self.of_run(run_id, last_entry).await
    }
}

fn last_entry(connection: &Connection, run: i64) -> Result<i64, JournalError> {
    let last: Option<i64> = connection
        .prepare_cached(
            "SELECT id FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        )?
        .query_row([row_at(run, 0), last_row(run)], |entry| entry.get(0))
        .optional()?;
    Ok(last.unwrap_or_default())
}

fn last_signal(connection: &Connection, run: i64) -> Result<i64, JournalError> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(max(id), 0) FROM signals WHERE run = ?1 AND consumed_op IS NULL",
        )?
        .query_row([run], |row| row.get(0))?)
}
