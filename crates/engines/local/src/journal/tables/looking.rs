//! The status of runs as readers see it: a run that no process executes does not count as running.

use std::path::PathBuf;

use neuron_engine::RunFilter;
use neuron_types::{Blocked, BlockedKind, RunId, RunPhase, RunStatus, Ticket, signal};
use rusqlite::{Connection, params};
use serde::de::Error as _;

use crate::{
    home::files::HomePaths,
    journal::{
        store::{column::wall_clock, error::JournalError, journal::Journal, lock},
        tables::{
            runs::{load_status, number, with_events},
            signals,
        },
    },
};

/// The cause in the status of a run that no process has, and that waits for nothing else.
const NO_PROCESS: &str = "no process executes the run, and nothing else keeps it from going on";

/// A run in the list.
pub(crate) struct Listed {
    /// Its number in the tables.
    pub(crate) run: i64,
    /// Its status, or why it cannot be read.
    pub(crate) shown: Result<RunStatus, String>,
}

impl Journal {
    /// Returns the status of the run, and whether it is in progress: a run that no process has is `interrupted`, unless
    /// it waits for a person.
    pub(crate) async fn shown(&self, run_id: &RunId) -> Result<RunStatus, JournalError> {
        let paths = self.paths().clone();
        self.of_run(run_id, move |connection, run| {
            let status = load_status(connection, run)?;
            attended(connection, run, &paths, status)
        })
        .await
    }

    /// Returns the directories that the runs work in, one for each, as [`directory`](Self::directory) returns it.
    ///
    /// # Errors
    ///
    /// The error of reading the journal.
    pub async fn directories(&self) -> Result<Vec<Option<PathBuf>>, JournalError> {
        self.call(|connection| {
            let mut statement = connection.prepare("SELECT directory FROM runs")?;
            let directories = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
            let directories = directories.map(|found| Ok(found?.map(PathBuf::from)));
            directories.collect()
        })
        .await
    }

    /// Returns the newest runs first, at most `limit` of them: those before number `before` that pass the filter.
    pub(crate) async fn newest_runs(
        &self,
        filter: &RunFilter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Listed>, JournalError> {
        let before = before.unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let filter = filter.clone();
        let labels = serde_json::to_string(&filter.labels)?;
        let paths = self.paths().clone();
        self.call(move |connection| {
            // A run's status has the tags from its start on. If a status cannot be read, its tags are unknown, and the
            // run is listed as such.
            let mut statement = connection.prepare_cached(
                "SELECT run, status, seq, (SELECT run_id FROM runs WHERE runs.run = statuses.run) \
                 FROM statuses \
                 WHERE run < ?1 AND NOT (?2 AND output IS NOT NULL) \
                 AND CASE WHEN json_valid(status) THEN \
                     (?4 IS NULL OR status ->> '$.agent' IS ?4) \
                     AND (?5 IS NULL OR status ->> '$.tenant' IS ?5) \
                     AND (?6 IS NULL OR status ->> '$.owner' IS ?6) \
                     AND NOT EXISTS (SELECT 1 FROM json_each(?7) wanted WHERE NOT EXISTS \
                         (SELECT 1 FROM json_each(statuses.status, '$.labels') label \
                          WHERE label.key = wanted.key AND label.value = wanted.value)) \
                     ELSE 1 END \
                 ORDER BY run DESC LIMIT ?3",
            )?;
            let RunFilter {
                is_open,
                agent,
                tenant,
                owner,
                ..
            } = filter;
            let rows = statement.query_map(
                params![before, is_open, limit, agent, tenant, owner, labels],
                |row| {
                    let text: String = row.get(1)?;
                    let run_id: String = row.get(3)?;
                    Ok((row.get::<_, i64>(0)?, text, row.get::<_, i64>(2)?, run_id))
                },
            )?;
            rows.map(|row| {
                let (run, text, seq, run_id) = row?;
                let status = serde_json::from_str(&text).map_err(JournalError::from);
                let status = status.and_then(|status| of_run(&run_id, status));
                let status = status.and_then(|status| with_events(connection, run, status, seq));
                let shown = status.and_then(|status| attended(connection, run, &paths, status));
                let shown = match shown {
                    Err(error) if error.is_unreadable() => Err(unreadable(&run_id)),
                    shown => Ok(shown?),
                };
                Ok(Listed { run, shown })
            })
            .collect()
        })
        .await
    }

    /// Returns the same runs, with only the tickets that a person still has to decide: no decision about them is on its
    /// way, and they have not lapsed.
    pub(crate) async fn undecided(
        &self,
        mut runs: Vec<RunStatus>,
    ) -> Result<Vec<RunStatus>, JournalError> {
        self.call(move |connection| {
            for status in runs
                .iter_mut()
                .filter(|status| !status.approvals.is_empty())
            {
                let run = number(connection, &status.run_id)?;
                status.approvals = undecided(connection, run, status)?;
            }
            Ok(runs)
        })
        .await
    }
}

/// Returns the status as it is shown: a process has the run, or the run waits for a person, or it was interrupted.
fn attended(
    connection: &Connection,
    run: i64,
    paths: &HomePaths,
    status: RunStatus,
) -> Result<RunStatus, JournalError> {
    if status.state.is_final() || lock::is_held(paths, &status.run_id)? {
        return Ok(status);
    }
    // The process that had the run may have written more before it released it.
    let mut status = load_status(connection, run)?;
    let waits = match status.state {
        RunPhase::WaitingForApproval => !undecided(connection, run, &status)?.is_empty(),
        RunPhase::WaitingForInput => {
            signals::first_waiting(connection, run, signal::USER_MESSAGE)?.is_none()
        }
        state => state.is_final(),
    };
    if !waits {
        status.state = RunPhase::Interrupted;
        let since = status.updated_at;
        let blocked = Blocked::new(BlockedKind::NoProcess, since, NO_PROCESS.to_owned());
        status.blocked = Some(blocked);
    }
    Ok(status)
}

fn undecided(
    connection: &Connection,
    run: i64,
    status: &RunStatus,
) -> Result<Vec<Ticket>, JournalError> {
    let now = wall_clock();
    let mut undecided = Vec::new();
    for ticket in &status.approvals {
        // A ticket that is escalated belongs to others then.
        let has_lapsed = ticket.expires_at.is_some_and(|at| at <= now) && ticket.then.is_none();
        if !has_lapsed
            && waiting_decisions(connection, run, &ticket.ticket)? < ticket.remaining().max(1)
        {
            undecided.push(ticket.clone());
        }
    }
    Ok(undecided)
}

/// Returns how many decisions about this ticket the run has not taken.
fn waiting_decisions(connection: &Connection, run: i64, ticket: &str) -> Result<u32, JournalError> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM signals WHERE run = ?1 AND name = ?2 AND consumed_op IS NULL \
             AND payload ->> '$.ticket' = ?3",
        )?
        .query_row(params![run, signal::DECISION, ticket], |row| row.get(0))?)
}

fn unreadable(run_id: &str) -> String {
    format!("the status of run {run_id} was written by another version of neuron")
}

/// Rejects a status that names another run: requests about that run would concern this one.
fn of_run(run_id: &str, status: RunStatus) -> Result<RunStatus, JournalError> {
    if status.run_id.as_str() == run_id {
        return Ok(status);
    }
    let other = format!("it is that of run {}", status.run_id);
    Err(serde_json::Error::custom(other).into())
}
