//! Segments: a long run continues from its state, and the steps that led to it are dropped.

use chrono::{DateTime, Utc};
use neuron_engine::SegmentSize;
use neuron_types::{
    AgentOrigin, AgentRef, AgentSpec, Begun, EffectKind, Outcome, Overrides, RunId, RunRequest,
    RunStart, RunState, StepFailure,
};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, de::DeserializeOwned};

use crate::journal::{
    store::{
        column::{Json, Micros, row_number},
        error::JournalError,
        journal::Journal,
        transaction::Transaction,
    },
    tables::{
        entries,
        runs::{check_version, load_request},
        steps,
    },
};

/// The default limit of operations and bytes of results in a segment.
pub(crate) const MOST: SegmentSize = SegmentSize::new(4_000, 32 * 1024 * 1024);

/// What a run had counted when a segment of it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// Counted from 1.
    pub(crate) segment: u64,
    pub(crate) op: i64,
    pub(crate) seq: u64,
    pub(crate) uuids: u64,
    pub(crate) now: DateTime<Utc>,
    /// The place of the last entry before it.
    pub(crate) place: u64,
}

impl Beginning {
    /// Returns the beginning of the first segment.
    pub(crate) fn of_run(created_at: DateTime<Utc>) -> Self {
        Self {
            segment: 1,
            op: 0,
            seq: 0,
            uuids: 0,
            now: created_at,
            place: 0,
        }
    }
}

impl Journal {
    /// Returns the request that the run was started with; with its agent's definition, once the executor has found
    /// that.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::OlderRun`], [`JournalError::OtherVersion`], or the error of
    /// reading the journal.
    pub async fn load_request(&self, run_id: &RunId) -> Result<RunRequest, JournalError> {
        let wanted = run_id.clone();
        self.of_run(run_id, move |connection, run| {
            check_version(connection, run, &wanted)?;
            load_begun(connection, run)
        })
        .await
    }

    /// Returns the segment of its journal that the run is in, counted from 1.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn segment(&self, run_id: &RunId) -> Result<u64, JournalError> {
        self.of_run(run_id, |connection, run| {
            let beginning = load(connection, run)?;
            Ok(beginning.map_or(1, |beginning| beginning.segment))
        })
        .await
    }
}

/// Returns where the newest segment began; `None` in the first.
pub(crate) fn load(connection: &Connection, run: i64) -> Result<Option<Beginning>, JournalError> {
    Ok(connection
        .prepare_cached("SELECT chapter, op, seq, uuids, at, place FROM chapters WHERE run = ?1")?
        .query_row([run], |row| {
            let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            let Micros(now) = row.get(4)?;
            Ok(Beginning {
                segment: count(0)?,
                op: row.get(1)?,
                seq: count(2)?,
                uuids: count(3)?,
                now,
                place: count(5)?,
            })
        })
        .optional()?)
}

/// Returns what the workflow of the newest segment starts with.
pub(crate) fn load_start(connection: &Connection, run: i64) -> Result<RunStart, JournalError> {
    if let Some(state) = carried::<RunState>(connection, run)? {
        return Ok(state.into());
    }
    let directory = connection
        .prepare_cached("SELECT directory FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    let request = Box::new(load_request(connection, run)?);
    Ok(RunStart::Request { request, directory })
}

/// Returns the state with which the newest segment began; `None` in the first.
fn carried<T: DeserializeOwned>(
    connection: &Connection,
    run: i64,
) -> Result<Option<T>, JournalError> {
    let state: Option<Json<T>> = connection
        .prepare_cached("SELECT state FROM chapters WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(state.map(|Json(state)| state))
}

/// The agent of a run that has continued as new.
#[derive(Deserialize)]
struct CarriedAgent {
    agent: AgentSpec,
    #[serde(default)]
    origin: Option<AgentOrigin>,
}

/// Returns the request that the run was started with; with its agent's definition, once it has that.
pub(crate) fn load_begun(connection: &Connection, run: i64) -> Result<RunRequest, JournalError> {
    let request = load_request(connection, run)?;
    if let Some(CarriedAgent { agent, origin }) = carried(connection, run)? {
        let signed = agent.signed;
        if let AgentRef::Definition(_) = request.agent {
            let begun = Begun {
                signed,
                ..Begun::default()
            };
            return Ok(with_definition(request, begun));
        }
        return Ok(RunRequest {
            agent: agent.into(),
            overrides: Overrides::default(),
            origin,
            ..request
        });
    }
    let begun = entries::first_of(connection, run, EffectKind::Begin.as_str())?;
    let begun = begun.map(|begun| serde_json::from_str::<Result<Outcome, StepFailure>>(&begun));
    Ok(match begun.transpose()? {
        Some(Ok(Outcome::Begin(begun))) => with_definition(request, *begun),
        _ => request,
    })
}

/// Returns the request with the definition that the run begins with. What its agent does not accept stays as it is.
fn with_definition(request: RunRequest, begun: Begun) -> RunRequest {
    if let AgentRef::Definition(definition) = request.agent {
        let mut definition = *definition;
        definition.signed |= begun.signed;
        return RunRequest {
            agent: definition.into(),
            ..request
        };
    }
    match request.clone().begun(begun) {
        Ok(input) if input.rejected.is_none() => RunRequest {
            agent: input.agent.into(),
            overrides: Overrides::default(),
            origin: input.origin,
            ..request
        },
        _ => request,
    }
}

/// Begins a segment. The steps before it are never replayed again.
pub(crate) fn begin(
    transaction: &Transaction<'_>,
    run: i64,
    beginning: &Beginning,
    state: &str,
) -> Result<(), JournalError> {
    let Beginning {
        segment,
        op,
        seq,
        uuids,
        now,
        place,
    } = *beginning;
    let before = load(transaction, run)?.map_or(0, |before| before.place);
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO chapters (run, chapter, op, seq, uuids, at, place, state) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            run,
            row_number(segment),
            op,
            row_number(seq),
            row_number(uuids),
            Micros(now),
            row_number(place),
            state
        ])?;
    steps::clear(transaction, run, before)
}
