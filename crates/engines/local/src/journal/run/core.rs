//! The state of a run's executor in memory, and how it is written to the journal.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use chrono::{DateTime, Utc};
use neuron_engine::{CancelBody, Pace, RunClock, RunLedger, SegmentSize};
use neuron_executor::{EventSink, Executor};
use neuron_flow::{Again, Fact, Flow, RetryNotice, Shown};
use neuron_types::{
    DurableError, RecordedEvent, RunEvent, RunId, RunNotice, RunOutput, RunScope, StepFailure,
    signal,
};
use rusqlite::Connection;
use uuid::Uuid;

use crate::{
    flight::{clock::Clock, stop::Stop},
    journal::{
        run::{
            losses::Losses,
            patience::Patience,
            state::{State, Unsaved},
            unwritten::Unwritten,
            wanted::{Recalled, Taken, taken_by},
            watcher::Watcher,
        },
        store::{
            column::wall_clock,
            error::JournalError,
            journal::{Journal, blocking},
            lock::RunLock,
            transaction::Transaction,
        },
        tables::{
            entries::{self, Ending, Entry},
            events,
            recording::{Reached, Recording},
            runs::{check_version, load_origin, save_output, save_status, unfinished_run},
            segments::{self, Beginning},
            signals,
            steps::{self, Operation},
        },
    },
};

/// A run in the hands of its executor.
///
/// Work on blocking threads keeps it alive by its `Arc`, and with it the run's lock: a call of the door that is dropped
/// while it is being committed is committed before another executor gets the run.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) run_id: RunId,
    pub(crate) engine: String,
    pub(crate) stop: Arc<Stop>,
    /// The last operation that was journaled when the run was opened.
    pub(crate) last_recorded: i64,
    /// What was journaled of this segment's operations when the run was opened.
    recording: Recording,
    /// How many events were journaled when the run was opened.
    replayed_events: u64,
    journal: Journal,
    lock: Arc<RunLock>,
    /// How often the run was lost with its process at its present place.
    pub(crate) losses: Arc<Losses>,
    pub(super) run: i64,
    /// Whether the executor starts the run where its newest segment does.
    pub(super) is_from_start: AtomicBool,
    /// The patches that the segment began with, once the workflow starts.
    pub(super) patches: Mutex<Vec<String>>,
    state: Mutex<State>,
    /// The flow of the run. It is notified of ends while the connection is held, so their order is that of their
    /// transactions.
    pub(crate) flow: Mutex<Flow>,
    pub(crate) clock: Clock,
    watcher: Watcher,
}

impl Core {
    /// Takes a run's lock and reads the state of the run.
    pub(crate) async fn open(journal: &Journal, run_id: &RunId) -> Result<Self, JournalError> {
        let wanted = run_id.clone();
        journal
            .call(move |connection| unfinished_run(connection, &wanted).map(drop))
            .await?;
        let lock = journal.lock(run_id).await?;
        Self::open_locked(journal, run_id, lock).await
    }

    /// Reads the state of a run whose lock is held.
    pub(crate) async fn open_locked(
        journal: &Journal,
        run_id: &RunId,
        lock: RunLock,
    ) -> Result<Self, JournalError> {
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
        let (run, status) = unfinished_run(connection, &run_id)?;
        check_version(connection, run, &run_id)?;
        let (created_at, seed) = load_origin(connection, run)?;
        let observed: i64 = connection.query_row(
            "SELECT observed FROM statuses WHERE run = ?1",
            [run],
            |row| row.get(0),
        )?;
        let observed = observed.unsigned_abs();
        let unobserved = events::load(connection, run, observed)?;
        let unobserved = unobserved.iter().collect();
        let (last_place, replayed_events) = entries::last(connection, run)?;
        let beginning = segments::load(connection, run)?;
        let beginning = beginning.unwrap_or_else(|| Beginning::of_run(created_at));
        let recording = Recording::load(connection, run, beginning.place)?;
        let Reached { place, attempts } = recording.reached();
        let reached = Reached {
            place: place.max(beginning.place),
            attempts,
        };
        let lock = Arc::new(lock);
        let losses = Losses::read(Arc::clone(&lock), reached);
        let stop = Stop::default();
        if let Some(reason) = signals::cancellation(connection, run)? {
            stop.cancel(reason);
        }
        let flow = Flow::new(run_id.clone()).with_journaled_deadlines();
        Ok(Self {
            engine: status.engine.clone(),
            stop: Arc::new(stop),
            last_recorded: recording.last().max(beginning.op),
            recording,
            replayed_events,
            journal,
            lock,
            losses: Arc::new(losses),
            run,
            run_id,
            is_from_start: AtomicBool::new(false),
            patches: Mutex::default(),
            state: Mutex::new(State {
                ops: beginning.op,
                clock: RunClock::new(beginning.now, beginning.uuids).with_seed(seed),
                // The last entries of a segment may have been removed with it.
                places: last_place.max(beginning.place),
                beginning,
                size: SegmentSize::default(),
                pace: Pace::new(segments::MOST, SegmentSize::UNBOUNDED),
                ledger: RunLedger::resumed(status, replayed_events, unobserved),
                emitted: beginning.seq,
                observed,
                shown: 0,
                is_status_due: false,
                looked_at: None,
            }),
            flow: Mutex::new(flow),
            clock: Clock::start(),
            watcher: Watcher::default(),
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the sink that is notified of what blocks the run here.
    pub(crate) fn set_sink(&self, sink: Arc<dyn EventSink>) {
        self.watcher.set(sink);
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.state().clock.now()
    }

    pub(crate) fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an end that is journaled at this place, and whose result has so many bytes.
    pub(crate) fn take_end(&self, place: u64, at: DateTime<Utc>, end: Fact, bytes: usize) {
        let shown = self.flow().take_at(place, at, [end]);
        self.state().size.bytes += bytes as u64;
        for shown in shown {
            if let Shown::Over(step) = shown {
                self.step_over(step);
            }
        }
    }

    /// Records facts that have no place in the order of observations.
    pub(crate) fn take_in(&self, facts: impl IntoIterator<Item = Fact>) {
        let now = self.now();
        drop(self.flow().take(now, facts));
    }

    /// Records what a wait took, if that is the signal that cancels the run. The clock moves to the time when it was
    /// taken. Any other signal is returned.
    pub(crate) fn take_cancel(&self, taken: Taken) -> Option<Taken> {
        if taken.name() != signal::CANCEL {
            return Some(taken);
        }
        let Taken { signal, at, place } = taken;
        self.advance(at);
        let reason = CancelBody::of_signal(&signal.payload).reason;
        self.stop.cancel(reason.clone());
        drop(self.flow().take_at(place, at, [Fact::Cancelled { reason }]));
        None
    }

    /// Moves the clock on to this time.
    pub(crate) fn advance(&self, to: DateTime<Utc>) {
        self.state().clock.advance(to);
    }

    /// Returns the error of a wait in a run that was stopped.
    pub(crate) fn stopped(&self) -> DurableError {
        let error = self.stop.error();
        error.unwrap_or(DurableError::Cancelled { reason: None })
    }

    /// Returns the time of a result that is journaled now: never before the result that was observed last.
    pub(super) fn stamp(&self) -> DateTime<Utc> {
        self.now().max(wall_clock())
    }

    pub(crate) fn uuid(&self) -> Uuid {
        self.state().clock.uuid(&self.run_id)
    }

    /// Takes the number of the next operation.
    pub(crate) fn next_op(&self) -> i64 {
        let mut state = self.state();
        state.ops += 1;
        state.ops
    }

    /// Counts an operation towards the length of the segment.
    pub(crate) fn count_operation(&self) {
        self.state().size.entries += 1;
    }

    /// Returns the last operation that the loop requested.
    pub(crate) fn last_op(&self) -> i64 {
        self.state().ops
    }

    /// Returns whether the journal continues behind this operation: an earlier executor got further.
    pub(crate) fn is_behind(&self, op: i64) -> bool {
        op < self.last_recorded || self.state().emitted < self.replayed_events
    }

    /// Returns whether another step might make the segment larger than wanted, and nothing of it is being replayed: an
    /// earlier executor may have had other limits.
    pub(crate) fn is_due(&self) -> bool {
        let mut state = self.state();
        let size = state.size;
        state.pace.look(size);
        let is_due = state.pace.is_due(SegmentSize::default());
        drop(state);
        is_due && self.is_from_start.load(Ordering::Relaxed) && !self.is_behind(self.last_op())
    }

    /// Sets the largest size of segments.
    pub(crate) fn set_most(&self, most: SegmentSize) {
        self.state().pace = Pace::new(most, SegmentSize::UNBOUNDED);
    }

    /// Records an event that the loop emits, and returns it if it is new.
    pub(crate) fn emit(&self, event: RunEvent) -> Option<RecordedEvent> {
        let mut state = self.state();
        state.emitted += 1;
        if state.emitted <= self.replayed_events {
            return None;
        }
        Some(state.ledger.record(event, wall_clock()))
    }

    /// Notifies the hooks of events.
    pub(crate) async fn observe(
        &self,
        executor: &Executor,
        notices: &[RunNotice],
    ) -> Result<(), StepFailure> {
        let run = RunScope::from(self.state().ledger.status());
        tokio::select! {
            biased;
            verdict = executor.observe(&run, notices) => verdict,
            // The caller finds that the run was stopped.
            () = self.stop.token().cancelled() => Ok(()),
        }
    }

    /// Takes the events that the hooks have not been notified of yet.
    pub(crate) fn take_unobserved(&self, are_hooks: bool) -> Vec<RunNotice> {
        let mut state = self.state();
        let events = state.ledger.unobserved_mut().take();
        if !events.is_empty() {
            state.observed = state.ledger.last();
            state.is_status_due |= are_hooks;
        }
        events
    }

    /// Reads what the journal has of the wait of this number and of the operations before it, from `first` on.
    pub(crate) async fn recall(
        self: &Arc<Self>,
        first: i64,
        wait: i64,
    ) -> Result<Recalled, JournalError> {
        if self.state().beginning.segment > 1 && !self.is_from_start.load(Ordering::Relaxed) {
            let run_id = self.run_id.clone();
            return Err(JournalError::NotFromStart { run_id });
        }
        if first > self.last_recorded {
            return Ok(Recalled::default());
        }
        self.with(move |core, connection| {
            let mut steps = core.recording.read(connection, core.run, first, wait)?;
            let wait = steps.pop_if(|last| last.op == wait);
            let taken = match &wait {
                Some(of_wait) => taken_by(connection, of_wait)?,
                None => None,
            };
            Ok(Recalled { steps, wait, taken })
        })
        .await
    }

    /// Writes in one transaction, together with the events that are pending and the status. A write that fails
    /// for now is retried until it succeeds, or the run is interrupted.
    pub(crate) async fn commit<T: Send + 'static>(
        self: &Arc<Self>,
        write: impl Fn(&Transaction<'_>, i64) -> Result<T, JournalError> + Send + Sync + 'static,
    ) -> Result<T, JournalError> {
        let write = Arc::new(write);
        let mut patience = Patience::default();
        loop {
            let write = Arc::clone(&write);
            let committed = self
                .with(move |core, connection| {
                    core.commit_on(connection, |transaction, run| write(transaction, run))
                })
                .await;
            match committed {
                Err(error) if self.may_wait_for(&error) => self.pause(&mut patience, &error).await,
                committed => return committed,
            }
        }
    }

    /// Returns whether a write that failed with this error is retried.
    pub(super) fn may_wait_for(&self, error: &JournalError) -> bool {
        self.journal.is_passing(error) && !self.stop.is_interrupted()
    }

    pub(super) async fn pause(&self, patience: &mut Patience, why: &JournalError) {
        patience.pause(&self.run_id, why, &self.watcher).await;
    }

    fn commit_on<T>(
        &self,
        connection: &mut Connection,
        write: impl FnOnce(&Transaction<'_>, i64) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.save(|unsaved| self.write(connection, unsaved, None, write))
    }

    /// Writes what is unsaved. The caller holds the connection, so nothing else takes or puts back events meanwhile.
    pub(super) fn save<T>(
        &self,
        write: impl FnOnce(&Unsaved) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let unsaved = self.state().take_unsaved();
        let result = write(&unsaved);
        if result.is_err() {
            self.state().put_back(unsaved);
        }
        result
    }

    pub(super) fn write<T>(
        &self,
        connection: &mut Connection,
        unsaved: &Unsaved,
        end: Option<Ending<'_>>,
        write: impl FnOnce(&Transaction<'_>, i64) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let transaction = Transaction::begin(connection)?;
        let result = write(&transaction, self.run)?;
        self.append(&transaction, unsaved, end)?;
        if let Some(shown) = &unsaved.status {
            save_status(&transaction, self.run, shown)?;
        }
        let cancellation = signals::cancellation(&transaction, self.run)?;
        transaction.commit()?;
        self.heed(cancellation);
        Ok(result)
    }

    /// Writes an entry, if there is anything for it.
    fn append(
        &self,
        connection: &Connection,
        unsaved: &Unsaved,
        end: Option<Ending<'_>>,
    ) -> Result<(), JournalError> {
        if end.is_none() && unsaved.events.is_empty() {
            return Ok(());
        }
        let entry = Entry {
            place: unsaved.place,
            seq: unsaved.seq,
            events: events::kept(&unsaved.events)?,
            end,
        };
        entries::append(connection, self.run, &entry)
    }

    /// Writes the end of an operation together with the events that are pending, and returns its place.
    fn write_end(&self, connection: &mut Connection, end: Ending<'_>) -> Result<u64, JournalError> {
        self.save(|unsaved| {
            if unsaved.status.is_some() || self.state().is_time_to_look() {
                self.write(connection, unsaved, Some(end), |_, _| Ok(()))?;
            } else {
                // One statement is a transaction by itself, and costs less than one that is begun and committed.
                self.append(connection, unsaved, Some(end))?;
            }
            Ok(unsaved.place)
        })
    }

    /// Writes the end of what was started, unless that was dropped. The end has happened and would be lost, so the
    /// write is retried for as long as this process lives.
    pub(crate) async fn end(
        self: &Arc<Self>,
        operation: Arc<Operation>,
        end: Fact,
        result: String,
        not_before: Option<DateTime<Utc>>,
    ) -> Result<(), JournalError> {
        let mut unwritten = Unwritten {
            operation,
            end,
            result,
            not_before,
        };
        let mut patience = Patience::default();
        loop {
            let tried = self
                .with(move |core, connection| Ok(core.try_end(connection, unwritten)))
                .await?;
            let (error, left) = match tried {
                None => return Ok(()),
                Some(left) => *left,
            };
            if !self.journal.is_passing(&error) {
                return Err(error);
            }
            unwritten = left;
            self.pause(&mut patience, &error).await;
        }
    }

    /// Writes an end. If it cannot be written, it is returned with the reason.
    fn try_end(
        &self,
        connection: &mut Connection,
        unwritten: Unwritten,
    ) -> Option<Box<(JournalError, Unwritten)>> {
        let handle = unwritten.operation.handle();
        if !self.flow().is_open(handle) {
            return None;
        }
        let at = self.stamp().max(unwritten.not_before.unwrap_or_default());
        let ending = unwritten.operation.ending(&unwritten.result, at);
        let place = match self.write_end(connection, ending) {
            Ok(place) => place,
            Err(error) => return Some(Box::new((self.journal.explained(error), unwritten))),
        };
        let Unwritten { end, result, .. } = unwritten;
        // The connection is still held: ends are observed in the order of their places.
        self.take_end(place, at, end, result.len());
        None
    }

    /// Journals the start of a write, which is about to be made.
    pub(crate) async fn begin_write(
        self: &Arc<Self>,
        write: Arc<Operation>,
    ) -> Result<(), JournalError> {
        let begin = move |transaction: &Transaction<'_>, run| {
            steps::attempt(transaction, run, &write, 1, wall_clock(), None)
        };
        self.commit(begin).await
    }

    /// Journals that an attempt failed, and when the next attempt starts.
    pub(crate) async fn fails(
        self: &Arc<Self>,
        operation: Arc<Operation>,
        again: &Again,
    ) -> Result<(), JournalError> {
        self.step_failing(again.notice.step, again.blocked());
        let (
            RetryNotice {
                attempt, failure, ..
            },
            due_at,
        ) = (again.notice.clone(), again.due);
        let at = wall_clock();
        let keep = move |transaction: &Transaction<'_>, run| {
            let failed = Some((&failure, due_at));
            steps::attempt(transaction, run, &operation, attempt, at, failed)
        };
        self.commit(keep).await
    }

    /// Writes the events that are pending, if there are any.
    pub(crate) async fn flush(self: &Arc<Self>) -> Result<(), JournalError> {
        if self.state().ledger.events().is_empty() {
            return Ok(());
        }
        self.commit(|_, _| Ok(())).await
    }

    /// Writes the events that are pending and checks whether the run is to be cancelled.
    pub(crate) async fn look(self: &Arc<Self>) -> Result<(), JournalError> {
        self.with(|core, connection| {
            if !core.state().ledger.events().is_empty() {
                return core.commit_on(connection, |_, _| Ok(()));
            }
            core.look_for_cancellation(connection)
        })
        .await
    }

    fn look_for_cancellation(&self, connection: &Connection) -> Result<(), JournalError> {
        self.heed(signals::cancellation(connection, self.run)?);
        Ok(())
    }

    /// Stops the run if it is to be cancelled, which was looked up just now.
    fn heed(&self, cancellation: Option<Option<String>>) {
        self.state().looked_at = Some(Instant::now());
        if let Some(reason) = cancellation {
            self.stop.cancel(reason);
        }
    }

    /// Writes the run's end.
    pub(crate) async fn finish(self: &Arc<Self>, output: RunOutput) -> Result<(), JournalError> {
        {
            let mut state = self.state();
            state.ledger.end(&output);
            state.is_status_due = true;
        }
        self.commit(move |transaction, run| save_output(transaction, run, &output))
            .await?;
        self.lock.discard();
        Ok(())
    }

    pub(super) const fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(super) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let core = Arc::clone(self);
        blocking(move || core.journal.with(|connection| work(&core, connection))).await
    }
}
