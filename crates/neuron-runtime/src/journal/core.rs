//! What a run's executor has in memory, and how it gets into the journal.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunId, RunOutput, RunStart};
use rusqlite::{Connection, Transaction};

use super::{
    Journal, JournalError, begin, blocking,
    chapters::{self, Beginning, Longest},
    column::{Micros, wall_clock},
    events,
    lock::RunLock,
    runs::{open_run, save_output, save_status},
    signals,
    state::{State, Unsaved},
    steps,
    steps::{Asked, Recorded},
};
use crate::stop::Stop;

/// A run in the hands of its executor.
///
/// Work on blocking threads holds it by its `Arc`, and with it the run's lock: a door call that is dropped
/// while it is being committed is committed before anybody else gets the run.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) run_id: RunId,
    pub(crate) engine: String,
    pub(crate) stop: Arc<Stop>,
    /// The last operation that was journaled when the run was opened.
    pub(crate) last_recorded: i64,
    /// How many events were journaled when the run was opened.
    replayed_events: u64,
    journal: Journal,
    lock: RunLock,
    run: i64,
    /// Whoever executes the run starts where its newest chapter does.
    is_from_start: AtomicBool,
    state: Mutex<State>,
}

impl Core {
    /// Takes a run's lock and reads where the run stands.
    pub(crate) async fn open(journal: &Journal, run_id: &RunId) -> Result<Self, JournalError> {
        let wanted = run_id.clone();
        journal
            .call(move |connection| open_run(connection, &wanted).map(drop))
            .await?;
        let lock = journal.lock(run_id).await?;
        let (journal, run_id) = (journal.clone(), run_id.clone());
        blocking(move || {
            let shared = journal.clone();
            shared.with(|connection| Self::load(connection, journal, run_id, lock))
        })
        .await
    }

    fn load(
        connection: &Connection,
        journal: Journal,
        run_id: RunId,
        lock: RunLock,
    ) -> Result<Self, JournalError> {
        let (run, status) = open_run(connection, &run_id)?;
        let Micros(created_at) =
            connection.query_row("SELECT created_at FROM runs WHERE run = ?1", [run], |row| {
                row.get(0)
            })?;
        let observed: i64 = connection.query_row(
            "SELECT observed FROM statuses WHERE run = ?1",
            [run],
            |row| row.get(0),
        )?;
        let observed = observed.unsigned_abs();
        let unobserved = events::load(connection, run, observed)?;
        let beginning = chapters::load(connection, run)?;
        let beginning = beginning.unwrap_or_else(|| Beginning::of_run(created_at));
        let stop = Stop::default();
        if let Some(reason) = signals::cancellation(connection, run)? {
            stop.cancel(reason);
        }
        Ok(Self {
            engine: status.engine.clone(),
            stop: Arc::new(stop),
            last_recorded: steps::last(connection, run)?.max(beginning.op),
            replayed_events: events::last(connection, run)?,
            journal,
            lock,
            run,
            run_id,
            is_from_start: AtomicBool::new(false),
            state: Mutex::new(State {
                ops: beginning.op,
                uuids: beginning.uuids,
                now: beginning.now,
                beginning,
                bytes: 0,
                status,
                emitted: beginning.seq,
                pending: Vec::new(),
                unobserved: unobserved.into_iter().map(|event| event.event).collect(),
                observed,
                is_dirty: false,
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.state().now
    }

    /// Moves the clock to when a result was journaled.
    pub(crate) fn consumed(&self, at: DateTime<Utc>) {
        self.consumed_result(at, 0);
    }

    /// As [`consumed`](Self::consumed), and counts the result's size.
    pub(crate) fn consumed_result(&self, at: DateTime<Utc>, bytes: usize) {
        let mut state = self.state();
        state.now = state.now.max(at);
        state.bytes += bytes as u64;
    }

    /// When a result that is journaled now came: never before the one that came last.
    pub(crate) fn stamp(&self) -> DateTime<Utc> {
        self.now().max(wall_clock())
    }

    pub(crate) fn next_uuid(&self) -> u64 {
        let mut state = self.state();
        state.uuids += 1;
        state.uuids
    }

    /// Takes the numbers of the next operations.
    pub(crate) fn next_ops(&self, count: usize) -> std::ops::Range<i64> {
        let mut state = self.state();
        let first = state.ops + 1;
        state.ops += i64::try_from(count).unwrap_or(i64::MAX);
        first..state.ops + 1
    }

    /// The last operation that the loop asked for.
    pub(crate) fn last_op(&self) -> i64 {
        self.state().ops
    }

    /// Whether the journal goes on behind this operation: an earlier executor got further.
    pub(crate) fn is_behind(&self, op: i64) -> bool {
        op < self.last_recorded || self.state().emitted < self.replayed_events
    }

    /// Whether the chapter is longer than that, and nothing of it is being replayed: an earlier executor may
    /// have had other limits.
    pub(crate) fn is_too_long(&self, longest: Longest) -> bool {
        self.is_from_start.load(Ordering::Relaxed)
            && !self.is_behind(self.last_op())
            && self.state().is_past(longest)
    }

    /// What the loop is to start with.
    pub(crate) async fn start(self: &Arc<Self>) -> Result<RunStart, JournalError> {
        let load = |core: &Self, connection: &mut Connection| {
            let start = chapters::load_start(connection, core.run)?;
            core.is_from_start.store(true, Ordering::Relaxed);
            Ok(start)
        };
        self.with(load).await
    }

    /// Begins a chapter with this state, in one transaction with what was told before.
    pub(crate) async fn begin_chapter(self: &Arc<Self>, state: String) -> Result<(), JournalError> {
        let next = self.state().next_beginning();
        self.commit(move |transaction, run| chapters::begin(transaction, run, &next, &state))
            .await?;
        let mut state = self.state();
        state.beginning = next;
        state.bytes = 0;
        Ok(())
    }

    /// Takes in what the loop tells, and returns what is new in it.
    pub(crate) fn emit(&self, event: RunEvent) -> Option<RecordedEvent> {
        let at = wall_clock();
        let mut state = self.state();
        state.emitted += 1;
        if state.emitted <= self.replayed_events {
            return None;
        }
        state.status.apply(&event, at);
        state.is_dirty = true;
        let seq = state.emitted;
        state.unobserved.push(event.clone());
        let recorded = RecordedEvent { seq, at, event };
        state.pending.push(recorded.clone());
        Some(recorded)
    }

    /// Takes the events that the hooks are to be told now.
    pub(crate) fn take_unobserved(&self) -> Vec<RunEvent> {
        let mut state = self.state();
        let events = std::mem::take(&mut state.unobserved);
        state.observed += events.len() as u64;
        state.is_dirty |= !events.is_empty();
        events
    }

    /// Reads what the journal has of these operations.
    pub(crate) async fn recall(
        self: &Arc<Self>,
        ops: std::ops::Range<i64>,
    ) -> Result<Vec<Option<Recorded>>, JournalError> {
        if self.state().beginning.chapter > 1 && !self.is_from_start.load(Ordering::Relaxed) {
            let run_id = self.run_id.clone();
            return Err(JournalError::NotFromStart { run_id });
        }
        if ops.start > self.last_recorded {
            return Ok(ops.map(|_| None).collect());
        }
        self.with(move |core, connection| {
            ops.map(|op| steps::load(connection, core.run, op))
                .collect()
        })
        .await
    }

    /// Writes in one transaction, together with the events that are pending and the status.
    pub(crate) async fn commit<T: Send + 'static>(
        self: &Arc<Self>,
        write: impl FnOnce(&Transaction<'_>, i64) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.with(move |core, connection| core.commit_on(connection, write))
            .await
    }

    fn commit_on<T>(
        &self,
        connection: &mut Connection,
        write: impl FnOnce(&Transaction<'_>, i64) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        // Nobody else takes or puts back meanwhile: the caller has the connection.
        let unsaved = self.state().take_unsaved();
        let result = self.write(connection, &unsaved, write);
        if result.is_err() {
            self.state().put_back(unsaved);
        }
        result
    }

    fn write<T>(
        &self,
        connection: &mut Connection,
        unsaved: &Unsaved,
        write: impl FnOnce(&Transaction<'_>, i64) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let transaction = begin(connection)?;
        let result = write(&transaction, self.run)?;
        events::append(&transaction, self.run, &unsaved.events)?;
        if let Some((status, observed)) = &unsaved.status {
            let observed = events::row_number(*observed);
            save_status(&transaction, self.run, status, observed)?;
        }
        let cancellation = signals::cancellation(&transaction, self.run)?;
        transaction.commit()?;
        if let Some(reason) = cancellation {
            self.stop.cancel(reason);
        }
        Ok(result)
    }

    /// Keeps what came of an operation, and returns when.
    pub(crate) async fn record(
        self: &Arc<Self>,
        asked: Asked,
        result: String,
        not_before: Option<DateTime<Utc>>,
    ) -> Result<DateTime<Utc>, JournalError> {
        let core = Arc::clone(self);
        let bytes = result.len();
        let at = self
            .commit(move |transaction, run| {
                let at = core.stamp().max(not_before.unwrap_or_default());
                steps::finish(transaction, run, &asked, &result, at)?;
                Ok(at)
            })
            .await?;
        self.consumed_result(at, bytes);
        Ok(at)
    }

    /// Writes the events that are pending, if there are any.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), JournalError> {
        if self.state().pending.is_empty() {
            return Ok(());
        }
        self.commit(|_, _| Ok(())).await
    }

    /// Writes the events that are pending and looks whether the run is to be cancelled.
    pub(crate) async fn look(self: &Arc<Self>) -> Result<(), JournalError> {
        self.with(|core, connection| {
            if !core.state().pending.is_empty() {
                return core.commit_on(connection, |_, _| Ok(()));
            }
            core.look_for_cancellation(connection)
        })
        .await
    }

    fn look_for_cancellation(&self, connection: &Connection) -> Result<(), JournalError> {
        if let Some(reason) = signals::cancellation(connection, self.run)? {
            self.stop.cancel(reason);
        }
        Ok(())
    }

    /// Takes the first waiting signal of this name as the result of an operation, unless the run is to be
    /// cancelled.
    pub(crate) async fn take_signal(
        self: &Arc<Self>,
        asked: Asked,
        name: String,
    ) -> Result<Option<serde_json::Value>, JournalError> {
        let taken = self
            .with(move |core, connection| {
                core.look_for_cancellation(connection)?;
                if core.stop.token().is_cancelled() {
                    return Ok(None);
                }
                let Some(signal) = signals::first_waiting(connection, core.run, &name)? else {
                    return Ok(None);
                };
                let at = core.stamp();
                let result = signal.id.to_string();
                core.commit_on(connection, |transaction, run| {
                    signals::consume(transaction, signal.id, asked.op)?;
                    steps::finish(transaction, run, &asked, &result, at)
                })?;
                Ok(Some((signal.payload, at)))
            })
            .await?;
        Ok(taken.map(|(payload, at)| {
            self.consumed(at);
            payload
        }))
    }

    /// The payload of a signal that was taken.
    pub(crate) async fn taken_signal(
        self: &Arc<Self>,
        id: i64,
    ) -> Result<serde_json::Value, JournalError> {
        self.with(move |_, connection| signals::payload(connection, id))
            .await
    }

    /// Writes the run's end.
    pub(crate) async fn finish(self: &Arc<Self>, output: RunOutput) -> Result<(), JournalError> {
        {
            let mut state = self.state();
            if !state.status.state.is_final() {
                // A workflow that tells no end has one all the same.
                state.status.state = output.state;
                state.status.error.clone_from(&output.error);
                state.status.approvals.clear();
                state.is_dirty = true;
            }
        }
        self.commit(move |transaction, run| save_output(transaction, run, &output))
            .await?;
        self.lock.discard();
        Ok(())
    }

    async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let core = Arc::clone(self);
        blocking(move || core.journal.with(|connection| work(&core, connection))).await
    }
}
