//! Removal of runs.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::RunId;
use rusqlite::Connection;

use crate::journal::{
    store::{
        error::JournalError, home::drain_free_pages, journal::Journal, lock::RunLock,
        transaction::Transaction,
    },
    tables::{
        entries::{last_row, row_at},
        runs::{load_output, load_status, number},
    },
};

impl Journal {
    /// Removes runs that are over: everything that the journal has of them, in one transaction, and the database's file
    /// gets smaller. Either all of them are removed or none.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`]; [`JournalError::NotOver`] for one that is not over; or the error of writing the
    /// journal. It is no error if the file cannot be made smaller for now.
    pub async fn remove_runs(&self, runs: &[RunId]) -> Result<(), JournalError> {
        let wanted = runs.to_vec();
        self.transact(move |transaction| {
            wanted.iter().try_for_each(|run| remove(transaction, run))
        })
        .await?;
        for run_id in runs {
            // The lock file of a run that ended was removed at its end; another may be left of a process that was
            // killed.
            if let Ok(Some(lock)) = RunLock::try_take(self.paths(), run_id) {
                lock.discard();
            }
        }
        let shrunk = self.call(drain_free_pages).await;
        if let Err(error) = shrunk {
            tracing::debug!(%error, "the journal's file keeps its size");
        }
        Ok(())
    }

    /// Returns the runs that have been over for at least this long, the oldest first.
    ///
    /// # Errors
    ///
    /// The error of reading the journal.
    pub async fn runs_over_since(&self, age: Duration) -> Result<Vec<RunId>, JournalError> {
        let age = chrono::Duration::from_std(age).ok();
        let before = age.and_then(|age| Utc::now().checked_sub_signed(age));
        let Some(before) = before else {
            return Ok(Vec::new());
        };
        self.call(move |connection| ended_before(connection, before))
            .await
    }
}

fn ended_before(
    connection: &Connection,
    before: DateTime<Utc>,
) -> Result<Vec<RunId>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT runs.run, runs.run_id FROM statuses JOIN runs USING (run) \
         WHERE statuses.output IS NOT NULL ORDER BY runs.run",
    )?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut ended = Vec::new();
    for row in rows {
        let (run, name) = row?;
        // The end is the last thing that happens to a run. A run that cannot be read is not removed by its age.
        let is_old = load_status(connection, run).is_ok_and(|status| status.updated_at < before);
        if let (true, Ok(run_id)) = (is_old, RunId::new(name)) {
            ended.push(run_id);
        }
    }
    Ok(ended)
}

fn remove(transaction: &Transaction<'_>, run_id: &RunId) -> Result<(), JournalError> {
    let run = number(transaction, run_id)?;
    if load_output(transaction, run)?.is_none() {
        let run_id = run_id.clone();
        return Err(JournalError::NotOver { run_id });
    }
    transaction
        .prepare_cached("DELETE FROM entries WHERE id BETWEEN ?1 AND ?2")?
        .execute([row_at(run, 0), last_row(run)])?;
    for table in ["attempts", "chapters", "signals", "statuses", "runs"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
    }
    Ok(())
}
