//! Segments: a long run continues from its state, and the steps that led there are dropped.

use chrono::{DateTime, Utc};
use neuron_engine::SegmentSize;
use neuron_executor::Agents;
use neuron_types::{AgentRef, RunId, RunInput, RunRequest, RunStart, RunState};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::journal::{
    store::{
        column::{Json, Micros, row_number},
        error::JournalError,
        journal::Journal,
        transaction::Transaction,
    },
    tables::{
        input,
        runs::{load_request, save_request},
        steps,
    },
};

/// The most operations and bytes of results of a segment, where nothing else is set.
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
    /// That of the first segment.
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
    /// Returns the segment of its journal that the run is in, counted from 1.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn segment(&self, run_id: &RunId) -> Result<u64, JournalError> {
        self.of_run(run_id, |connection, run| {
            let beginning = load(connection, run)?;
            Ok(beginning.map_or(1, |beginning| beginning.segment))
        })
        .await
    }
}

/// Where the newest segment began; `None` in the first.
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

/// What the loop of the newest segment starts with. An agent that is only named is looked up among these, and its
/// definition kept; what it is given is checked once. Decisions about it have to be signed from then on where they are
/// `signed`.
pub(crate) fn load_start(
    connection: &Connection,
    run: i64,
    agents: &Agents,
    signed: bool,
) -> Result<RunStart, JournalError> {
    let state: Option<Json<RunState>> = connection
        .prepare_cached("SELECT state FROM chapters WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    if let Some(Json(state)) = state {
        return Ok(RunState::into(state));
    }
    let request = load_request(connection, run)?;
    let is_named = matches!(request.agent, AgentRef::Name(_));
    let given = (!is_named && signed).then(|| request.clone());
    let mut start = agents.resolve(request)?;
    let is_news = signed && !start.agent.signed;
    start.agent.signed |= signed;
    start.directory = connection
        .prepare_cached("SELECT directory FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    // What is not taken stays in the request, and ends the run whoever takes it up.
    if (is_named || is_news) && start.rejected.is_none() {
        save_request(connection, run, &with_definition(given, &start))?;
    }
    if let Some(schema) = &start.agent.input {
        start.mismatch = input::mismatch(connection, run, schema, &start.prompt.text())?;
    }
    Ok(start.into())
}

/// The request with the definition of its agent. Where it was `given` with one, what it changes of that stays beside it, to be
/// compared with a second start.
fn with_definition(given: Option<RunRequest>, start: &RunInput) -> RunRequest {
    if let Some(RunRequest {
        agent: AgentRef::Definition(mut definition),
        overrides,
        ..
    }) = given
    {
        definition.signed = start.agent.signed;
        return RunRequest {
            agent: AgentRef::Definition(definition),
            overrides,
            ..start.clone().into()
        };
    }
    start.clone().into()
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
