//! Making runs and looking at them.

use neuron_types::{ApprovalTicket, RecordedEvent, RunId, RunInput, RunOutput, RunStatus};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::{
    Journal, JournalError,
    column::{Json, Micros, wall_clock},
    events,
};

/// A ticket that waits for a person, and the run that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenTicket {
    /// The run.
    pub run_id: RunId,
    /// The question.
    #[serde(flatten)]
    pub ticket: ApprovalTicket,
}

impl Journal {
    /// Makes a run, which starts now and is executed by whoever opens a
    /// [`JournaledContext`](crate::JournaledContext) for it. `engine` is what its status says, `local` as a
    /// rule.
    ///
    /// # Errors
    ///
    /// [`JournalError::RunExists`], or what keeps the journal from being written.
    pub async fn create_run(
        &self,
        run_id: &RunId,
        input: &RunInput,
        engine: &str,
    ) -> Result<(), JournalError> {
        let run_id = run_id.clone();
        let created_at = wall_clock();
        let status = RunStatus::new(run_id.clone(), engine, &input.agent.name, created_at);
        let input = serde_json::to_string(input)?;
        self.transact(move |transaction| {
            if find(transaction, &run_id)?.is_some() {
                return Err(JournalError::RunExists { run_id });
            }
            transaction.execute(
                "INSERT INTO runs (run_id, engine, created_at, input) VALUES (?1, ?2, ?3, ?4)",
                params![run_id.as_str(), status.engine, Micros(created_at), input],
            )?;
            transaction.execute(
                "INSERT INTO statuses (run, status) VALUES (?1, ?2)",
                params![
                    transaction.last_insert_rowid(),
                    serde_json::to_string(&status)?
                ],
            )?;
            Ok(())
        })
        .await
    }

    /// What the run was started with.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn load_input(&self, run_id: &RunId) -> Result<RunInput, JournalError> {
        self.of_run(run_id, load_input).await
    }

    /// The newest runs first, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being read.
    pub async fn runs(&self, limit: u32) -> Result<Vec<RunStatus>, JournalError> {
        self.call(move |connection| {
            statuses(
                connection,
                "SELECT status FROM statuses ORDER BY run DESC LIMIT ?1",
                limit,
            )
        })
        .await
    }

    /// Where the run stands.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn status(&self, run_id: &RunId) -> Result<RunStatus, JournalError> {
        self.of_run(run_id, load_status).await
    }

    /// What the run came to; `None` until it is over.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn output(&self, run_id: &RunId) -> Result<Option<RunOutput>, JournalError> {
        self.of_run(run_id, load_output).await
    }

    /// The run's events behind number `after_seq`, in order; 0 gives all of them.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn events(
        &self,
        run_id: &RunId,
        after_seq: u64,
    ) -> Result<Vec<RecordedEvent>, JournalError> {
        self.of_run(run_id, move |connection, run| {
            events::load(connection, run, after_seq)
        })
        .await
    }

    /// The open tickets of this run, or those of all runs, the oldest run first.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn approvals(&self, run_id: Option<&RunId>) -> Result<Vec<OpenTicket>, JournalError> {
        let open = match run_id {
            Some(run_id) => vec![self.status(run_id).await?],
            None => {
                self.call(|connection| {
                    statuses(
                        connection,
                        "SELECT status FROM statuses WHERE output IS NULL \
                         ORDER BY run LIMIT ?1",
                        u32::MAX,
                    )
                })
                .await?
            }
        };
        let tickets = open.into_iter().flat_map(|status| {
            let run_id = status.run_id;
            status.approvals.into_iter().map(move |ticket| OpenTicket {
                run_id: run_id.clone(),
                ticket,
            })
        });
        Ok(tickets.collect())
    }

    pub(crate) async fn of_run<T: Send + 'static>(
        &self,
        run_id: &RunId,
        work: impl FnOnce(&Connection, i64) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let run_id = run_id.clone();
        self.call(move |connection| {
            let run = number(connection, &run_id)?;
            work(connection, run)
        })
        .await
    }
}

/// The run's number in the tables, if it exists.
fn find(connection: &Connection, run_id: &RunId) -> Result<Option<i64>, JournalError> {
    Ok(connection
        .prepare_cached("SELECT run FROM runs WHERE run_id = ?1")?
        .query_row([run_id.as_str()], |row| row.get(0))
        .optional()?)
}

/// The run's number in the tables.
pub(crate) fn number(connection: &Connection, run_id: &RunId) -> Result<i64, JournalError> {
    find(connection, run_id)?.ok_or_else(|| JournalError::UnknownRun {
        run_id: run_id.clone(),
    })
}

/// The number and the status of a run that is not over.
pub(crate) fn open_run(
    connection: &Connection,
    run_id: &RunId,
) -> Result<(i64, RunStatus), JournalError> {
    let run = number(connection, run_id)?;
    let status = load_status(connection, run)?;
    status.check_open()?;
    Ok((run, status))
}

pub(crate) fn load_input(connection: &Connection, run: i64) -> Result<RunInput, JournalError> {
    let Json(input) = connection
        .prepare_cached("SELECT input FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(input)
}

pub(crate) fn load_status(connection: &Connection, run: i64) -> Result<RunStatus, JournalError> {
    let Json(status) = connection
        .prepare_cached("SELECT status FROM statuses WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(status)
}

pub(crate) fn load_output(
    connection: &Connection,
    run: i64,
) -> Result<Option<RunOutput>, JournalError> {
    let output: Option<Json<RunOutput>> = connection
        .prepare_cached("SELECT output FROM statuses WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(output.map(|Json(output)| output))
}

pub(crate) fn save_status(
    connection: &Connection,
    run: i64,
    status: &RunStatus,
    observed: i64,
) -> Result<(), JournalError> {
    connection
        .prepare_cached("UPDATE statuses SET status = ?2, observed = ?3 WHERE run = ?1")?
        .execute(params![run, serde_json::to_string(status)?, observed])?;
    Ok(())
}

pub(crate) fn save_output(
    connection: &Connection,
    run: i64,
    output: &RunOutput,
) -> Result<(), JournalError> {
    connection.execute(
        "UPDATE statuses SET output = ?2 WHERE run = ?1",
        params![run, serde_json::to_string(output)?],
    )?;
    Ok(())
}

fn statuses(
    connection: &Connection,
    query: &str,
    limit: u32,
) -> Result<Vec<RunStatus>, JournalError> {
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map([limit], |row| row.get(0))?;
    rows.map(|row| Ok(row.map(|Json(status)| status)?))
        .collect()
}
