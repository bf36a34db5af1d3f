//! Creation and lookup of runs.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use neuron_types::{Parent, RecordedEvent, RunId, RunOutput, RunRequest, RunStatus, STATE_VERSION};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Deserialize;
use uuid::Uuid;

use crate::journal::{
    store::{
        column::{Json, Micros, WrittenIn, row_number, wall_clock},
        error::JournalError,
        journal::Journal,
        schema,
    },
    tables::events,
};

impl Journal {
    /// Creates a run, which starts now and is executed by a program that opens a
    /// [`JournaledContext`](crate::JournaledContext) for it. `engine` is the engine's name in its status, `local` as a
    /// rule.
    ///
    /// # Errors
    ///
    /// [`JournalError::RunExists`], or the error of writing the journal.
    pub async fn create_run(
        &self,
        run_id: &RunId,
        request: impl Into<RunRequest>,
        engine: &str,
    ) -> Result<(), JournalError> {
        self.make_run(run_id, request.into(), engine, None).await
    }

    /// Creates a run that works in a directory of its own: see [`directory`](Self::directory). A directory whose name
    /// is not valid UTF-8 is not stored.
    ///
    /// # Errors
    ///
    /// As [`create_run`](Self::create_run).
    pub async fn create_run_in(
        &self,
        directory: &Path,
        run_id: &RunId,
        request: impl Into<RunRequest>,
        engine: &str,
    ) -> Result<(), JournalError> {
        let directory = directory.to_str().map(ToOwned::to_owned);
        self.make_run(run_id, request.into(), engine, directory)
            .await
    }

    async fn make_run(
        &self,
        run_id: &RunId,
        request: RunRequest,
        engine: &str,
        directory: Option<String>,
    ) -> Result<(), JournalError> {
        let run_id = run_id.clone();
        let created_at = wall_clock();
        let seed = Uuid::new_v4().to_string();
        let agent = request.agent.name();
        let status = RunStatus::new(run_id.clone(), engine, agent, created_at);
        let status = status.with_tags(&request.tags);
        let request = serde_json::to_string(&request)?;
        self.transact(move |transaction| {
            if find(transaction, &run_id)?.is_some() {
                return Err(JournalError::RunExists { run_id });
            }
            transaction.execute(
                "INSERT INTO runs (run_id, engine, created_at, input, version, seed, directory) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    run_id.as_str(),
                    status.engine,
                    Micros(created_at),
                    request,
                    schema::VERSION,
                    seed,
                    directory
                ],
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

    /// Returns the directory that the run works in, if it was [created in one](Self::create_run_in). The executor of
    /// the run changes to the directory: the journal does not.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn directory(&self, run_id: &RunId) -> Result<Option<PathBuf>, JournalError> {
        self.of_run(run_id, |connection, run| {
            let directory: Option<String> = connection
                .prepare_cached("SELECT directory FROM runs WHERE run = ?1")?
                .query_row([run], |row| row.get(0))?;
            Ok(directory.map(PathBuf::from))
        })
        .await
    }

    /// Returns the run at the top of the tree that this one is in; `None` if no other run has started it.
    pub(crate) async fn root_of(&self, run_id: &RunId) -> Result<Option<RunId>, JournalError> {
        let parent = self.of_run(run_id, load_parent).await?;
        Ok(parent.map(|parent| parent.root))
    }

    /// Returns the status of the run.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn status(&self, run_id: &RunId) -> Result<RunStatus, JournalError> {
        self.of_run(run_id, load_status).await
    }

    /// Returns the output of the run; `None` until it is over.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn output(&self, run_id: &RunId) -> Result<Option<RunOutput>, JournalError> {
        self.of_run(run_id, load_output).await
    }

    /// Returns the run's events behind number `after_seq`, in order; 0 returns all of them.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
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

    /// Returns the first of the run's events behind number `after_seq`, at most `limit` of them.
    pub(crate) async fn first_events(
        &self,
        run_id: &RunId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<RecordedEvent>, JournalError> {
        self.of_run(run_id, move |connection, run| {
            events::load_first(connection, run, after_seq, limit)
        })
        .await
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

/// Returns whether there is such a run.
pub(crate) fn is_run(connection: &Connection, run_id: &RunId) -> Result<bool, JournalError> {
    Ok(find(connection, run_id)?.is_some())
}

/// Returns the run's number in the tables, if it exists.
fn find(connection: &Connection, run_id: &RunId) -> Result<Option<i64>, JournalError> {
    Ok(connection
        .prepare_cached("SELECT run FROM runs WHERE run_id = ?1")?
        .query_row([run_id.as_str()], |row| row.get(0))
        .optional()?)
}

/// Returns the run's number in the tables.
pub(crate) fn number(connection: &Connection, run_id: &RunId) -> Result<i64, JournalError> {
    find(connection, run_id)?.ok_or_else(|| JournalError::UnknownRun {
        run_id: run_id.clone(),
    })
}

/// Returns the number and the status of a run that is not over.
pub(crate) fn open_run(
    connection: &Connection,
    run_id: &RunId,
) -> Result<(i64, RunStatus), JournalError> {
    let run = number(connection, run_id)?;
    let status = load_status(connection, run)?;
    status.check_open()?;
    Ok((run, status))
}

/// Returns the number and the status of a run that its executor has not finished: its events may already have its end,
/// which the executor may still have to send to other runs.
pub(crate) fn unfinished_run(
    connection: &Connection,
    run_id: &RunId,
) -> Result<(i64, RunStatus), JournalError> {
    let run = number(connection, run_id)?;
    let status = load_status(connection, run)?;
    if load_output(connection, run)?.is_some() {
        status.check_open()?;
    }
    Ok((run, status))
}

/// Rejects a run of a build that has another form of the journal, or of inputs and states.
pub(crate) fn check_version(
    connection: &Connection,
    run: i64,
    run_id: &RunId,
) -> Result<(), JournalError> {
    let (WrittenIn(found), tables): (_, i64) = connection
        .prepare_cached("SELECT input, version FROM runs WHERE run = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let run_id = run_id.clone();
    if tables < schema::VERSION {
        return Err(JournalError::OlderRun { run_id });
    }
    // A newer build may have continued a run that an older one started.
    let state: Option<WrittenIn> = connection
        .prepare_cached("SELECT state FROM chapters WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    let written = [Some(found), state.map(|WrittenIn(state)| state)];
    let mut others = written.into_iter().flatten();
    let Some(found) = others.find(|found| *found != STATE_VERSION) else {
        return Ok(());
    };
    Err(JournalError::OtherVersion {
        run_id,
        found,
        known: STATE_VERSION,
    })
}

/// Returns when a run began, and the seed of its ids; an older build drew none.
pub(crate) fn load_origin(
    connection: &Connection,
    run: i64,
) -> Result<(DateTime<Utc>, Option<Uuid>), JournalError> {
    let (Micros(created_at), seed): (_, Option<String>) = connection
        .prepare_cached("SELECT created_at, seed FROM runs WHERE run = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((created_at, seed.and_then(|seed| seed.parse().ok())))
}

pub(crate) fn load_request(connection: &Connection, run: i64) -> Result<RunRequest, JournalError> {
    let Json(request) = connection
        .prepare_cached("SELECT input FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(request)
}

/// Returns the run that started this one, if one did. The rest of its request may be in a form that this build cannot
/// read.
pub(crate) fn load_parent(
    connection: &Connection,
    run: i64,
) -> Result<Option<Parent>, JournalError> {
    let Json(started): Json<Started> = connection
        .prepare_cached("SELECT input FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    Ok(started.parent)
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    parent: Option<Parent>,
}

pub(crate) fn load_status(connection: &Connection, run: i64) -> Result<RunStatus, JournalError> {
    let (Json(status), seq) = connection
        .prepare_cached("SELECT status, seq FROM statuses WHERE run = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    with_events(connection, run, status, seq)
}

/// Returns the status with the events behind number `seq`, which it lacks.
pub(crate) fn with_events(
    connection: &Connection,
    run: i64,
    mut status: RunStatus,
    seq: i64,
) -> Result<RunStatus, JournalError> {
    for RecordedEvent { at, event, .. } in events::load(connection, run, seq.unsigned_abs())? {
        status.apply(&event, at);
    }
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

/// The status of a run, as it is stored.
pub(crate) struct Shown {
    pub(crate) status: RunStatus,
    /// The number of the last event that the status has.
    pub(crate) seq: u64,
    /// The number of the last event that the hooks were notified of.
    pub(crate) observed: u64,
}

pub(crate) fn save_status(
    connection: &Connection,
    run: i64,
    Shown {
        status,
        seq,
        observed,
    }: &Shown,
) -> Result<(), JournalError> {
    connection
        .prepare_cached("UPDATE statuses SET status = ?2, seq = ?3, observed = ?4 WHERE run = ?1")?
        .execute(params![
            run,
            serde_json::to_string(status)?,
            row_number(*seq),
            row_number(*observed)
        ])?;
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
