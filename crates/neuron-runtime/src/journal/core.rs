//! What a run's executor has in memory, and how it gets into the journal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunId, RunOutput, RunStatus};
use rusqlite::{Connection, Transaction};

use super::{
    Journal, JournalError, begin, blocking,
    column::{Micros, wall_clock},
    events,
    lock::RunLock,
    runs::{open_run, save_output, save_status},
    signals, steps,
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
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    ops: i64,
    uuids: u64,
    now: DateTime<Utc>,
    status: RunStatus,
    /// How many events the loop has told, those of a replay included.
    emitted: u64,
    /// Events that are not in the journal yet.
    pending: Vec<RecordedEvent>,
    /// Events that the hooks have not been told yet.
    unobserved: Vec<RunEvent>,
    /// The number of the last event that the hooks were told.
    observed: u64,
    /// `status` or `observed` is not in the journal yet.
    is_dirty: bool,
}

/// What the next commit writes beside the operation that it is made for.
struct Unsaved {
    events: Vec<RecordedEvent>,
    status: Option<(RunStatus, u64)>,
}

impl State {
    fn take_unsaved(&mut self) -> Unsaved {
        let is_dirty = std::mem::take(&mut self.is_dirty);
        Unsaved {
            events: std::mem::take(&mut self.pending),
            status: is_dirty.then(|| (self.status.clone(), self.observed)),
        }
    }

    /// After a commit that failed: it is written with the next one.
    fn put_back(&mut self, unsaved: Unsaved) {
        let newer = std::mem::replace(&mut self.pending, unsaved.events);
        self.pending.extend(newer);
        self.is_dirty |= unsaved.status.is_some();
    }
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
        let stop = Stop::default();
        if let Some(reason) = signals::cancellation(connection, run)? {
            stop.cancel(reason);
        }
        Ok(Self {
            engine: status.engine.clone(),
            stop: Arc::new(stop),
            last_recorded: steps::last(connection, run)?,
            replayed_events: events::last(connection, run)?,
            journal,
            lock,
            run,
            run_id,
            state: Mutex::new(State {
                ops: 0,
                uuids: 0,
                now: created_at,
                status,
                emitted: 0,
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
        let mut state = self.state();
        state.now = state.now.max(at);
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
        let at = self
            .commit(move |transaction, run| {
                let at = core.stamp().max(not_before.unwrap_or_default());
                steps::finish(transaction, run, &asked, &result, at)?;
                Ok(at)
            })
            .await?;
        self.consumed(at);
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
