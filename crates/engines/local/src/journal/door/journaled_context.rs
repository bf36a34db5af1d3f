//! The journaled door.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use neuron_engine::{SegmentSize, end_event, ends_run};
use neuron_executor::{Agents, EventSink, Executor, NoSink};
use neuron_flow::{Fact, still_in_flight};
use neuron_types::{
    DurableContext, DurableError, Handle, Observed, RunEvent, RunId, RunOutput, RunStart, RunState,
    Signal, Started, declared_patches,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    journal::{
        door::{
            flight::Flight, idle::IdleLooks, interrupt::Interrupt, park_policy::ParkPolicy,
            request::operation_of,
        },
        run::core::Core,
        store::{column::remaining, error::JournalError, journal::Journal},
        tables::{claim::RunClaim, segments},
    },
    sessions::home::HomeSessions,
};

/// A workflow on a [`JournaledContext`]: for agents `|door, start| Box::pin(neuron_workflows::agent(door, start))`.
pub type LocalWorkflow =
    for<'a> fn(&'a JournaledContext, RunStart) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// A door that journals: a run goes on in another process where this one stopped, however it stopped.
///
/// # What is journaled when
///
/// The end of what was started is on the disk before the loop observes it, in one transaction with the events
/// that came before and with its place in the order of observations. A signal that a wait takes is journaled
/// under the number of that wait, and so is that the run was cancelled. A write's start is on the disk before
/// the write is made, and so is the failure of an attempt before the next one. Events of a step that takes
/// longer than a moment are written while it goes on.
///
/// # What a replay does
///
/// The loop starts anew and asks for the same things again. A wait that took a signal takes it again; any other
/// observes the end that has the first place among those that it asks for. So it observes the same as before,
/// whatever was journaled since, and what was left is not made again. What is not what the journal holds is a
/// [`DurableError::NonDeterminism`], and the journal is not changed. Where the journal has no answer, what was
/// in flight goes on: a model call, a read and an idempotent call with their next attempt, under the same
/// idempotency key, after what is left of its delay; a write fails with
/// [`OutcomeUnknown`](neuron_types::FailureKind::OutcomeUnknown) and is not called. What was in flight when ten
/// processes in a row were killed, or dropped the run, fails with [`WorkerLost`](neuron_types::FailureKind::WorkerLost),
/// and is not made again either: it may be what ends them. A run that was put away in order is not lost.
///
/// # Segments
///
/// A run whose journal has become long continues as new, in another segment: the loop's state is written, and the steps
/// that led to it are dropped, in one transaction. So a replay takes no longer however long the run is.
/// [`execute`](Self::execute) starts the workflow with what [`run_start`](Self::run_start) gives: the run's input, or the state
/// that the newest segment began with. The run's id, status, events and signals are those of one run.
///
/// # Ending
///
/// When the loop is done, [`finish`](Self::finish) writes the output. A context that is dropped before that
/// leaves a run that can be resumed.
///
/// It works on a tokio runtime with time, and its futures are `Send`.
pub struct JournaledContext {
    pub(crate) core: Arc<Core>,
    executor: Executor,
    /// The same, once it is known what it may do.
    granting: OnceLock<Executor>,
    agents: Agents,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) park: ParkPolicy,
    /// The looks of the worker that executes the runs below this one.
    pub(crate) below: Option<IdleLooks>,
    most: SegmentSize,
    /// The patches that this build declares.
    patches: Vec<String>,
    flight: Mutex<Flight>,
}

impl JournaledContext {
    /// Takes up a run, at its start or where its last executor stopped. Until this context is dropped,
    /// nobody else executes the run.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, [`JournalError::Executing`] if another
    /// process is at it, [`JournalError::OlderRun`] or [`JournalError::OtherVersion`] if a build with another form
    /// of the journal or of the run's state started it, or what keeps the journal from being read.
    pub async fn open(
        journal: &Journal,
        run_id: &RunId,
        executor: Executor,
    ) -> Result<Self, JournalError> {
        let core = Core::open(journal, run_id).await?;
        Ok(Self::over(core, journal, executor))
    }

    /// As [`open`](Self::open), for a run that was [made with its claim](Journal::claim_run).
    ///
    /// # Errors
    ///
    /// What keeps the journal from being read.
    pub async fn open_claimed(claim: RunClaim, executor: Executor) -> Result<Self, JournalError> {
        let RunClaim {
            journal,
            run_id,
            lock,
        } = claim;
        let core = Core::open_locked(&journal, &run_id, lock).await?;
        Ok(Self::over(core, &journal, executor))
    }

    fn over(core: Core, journal: &Journal, executor: Executor) -> Self {
        let mut executor = executor.with_place(journal.place().clone());
        if !executor.has_sessions() {
            executor = executor.with_sessions(Arc::new(HomeSessions::of(journal.clone())));
        }
        Self {
            core: Arc::new(core),
            executor,
            granting: OnceLock::new(),
            agents: Agents::default(),
            sink: Arc::new(NoSink),
            park: ParkPolicy::default(),
            below: None,
            most: segments::MOST,
            patches: declared_patches(&[]),
            flight: Mutex::default(),
        }
    }

    /// Sets the sink of the run's events. Default is none.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.core.set_sink(Arc::clone(&sink));
        self.sink = sink;
        self
    }

    /// Sets the agents among which the one is looked up that the run names, and whose current definition a run is given that
    /// is to adopt it. Default is none: the run must have been started with a definition, or been taken up before.
    ///
    /// The executor does what the agent among them may do, and asks what it asks: see
    /// [`Executor::granting_owner`](neuron_executor::Executor::granting_owner).
    #[must_use]
    pub fn with_agents(mut self, agents: Agents) -> Self {
        let definitions = agents.definitions().cloned();
        self.executor = self.executor.with_definitions(definitions);
        self.agents = agents;
        self
    }

    /// Declares the [patches](DurableContext::patched) of the run's workflow, beside those of the agents' loop. Default is
    /// none. A segment keeps to those with which it began.
    #[must_use]
    pub fn with_patches(mut self, patches: &[&str]) -> Self {
        self.patches = declared_patches(patches);
        self
    }

    /// Sets what the run does while it waits. Default is [`ParkPolicy::Wait`].
    #[must_use]
    pub fn with_park_policy(mut self, park: ParkPolicy) -> Self {
        self.park = park;
        self
    }

    /// Has the run be put away, where it [is](ParkPolicy::Suspend), only while nothing goes on below it: this worker, which
    /// executes the runs that it starts, says when. Default is whenever nothing of the run itself goes on.
    #[must_use]
    pub fn with_runs_below(mut self, looks: IdleLooks) -> Self {
        self.below = Some(looks);
        self
    }

    /// Sets the most operations of a segment; before that the run continues as new. Default is 4,000,
    /// which is one every thousand turns with a tool call or so. 0 is one after each step.
    ///
    /// A step that makes more operations than any before it may pass it.
    #[must_use]
    pub fn continue_as_new_after(mut self, operations: u64) -> Self {
        self.most.entries = operations;
        self.core.set_most(self.most);
        self
    }

    /// As [`continue_as_new_after`](Self::continue_as_new_after), by the bytes of the segment's results. Default is 32 MiB.
    #[must_use]
    pub fn continue_as_new_after_bytes(mut self, bytes: u64) -> Self {
        self.most.bytes = bytes;
        self.core.set_most(self.most);
        self
    }

    /// Returns what the workflow starts with: what the run was started with, or the state in which it began its newest
    /// segment.
    ///
    /// A run does not continue as new, and does not go on from a later segment, before this was called.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being read.
    pub async fn run_start(&self) -> Result<RunStart, JournalError> {
        let start = self.core.run_start(self.patches.clone()).await?;
        if let Ok(agent) = self.agents.get(start.agent()) {
            let granting = || self.executor.clone().granting_owner(agent);
            self.granting.get_or_init(granting);
        }
        Ok(start)
    }

    /// Executes the run with this workflow, from where it is to its end, and journals what it came to. A run that ends before
    /// it has begun, as one that is cancelled first, has an output too.
    ///
    /// # Errors
    ///
    /// What keeps the run from going on here, as [`run_start`](Self::run_start) and the workflow say it;
    /// [`DurableError::Suspended`] if it waits for somebody and is put away. It can be resumed.
    pub async fn execute(&self, workflow: LocalWorkflow) -> Result<RunOutput, DurableError> {
        let output = match workflow(self, self.run_start().await?).await {
            Ok(output) => output,
            Err(error) => return self.end_with(error).await,
        };
        self.finish(&output).await?;
        Ok(output)
    }

    /// Ends the run whose workflow returned this error in the place of an output, as one that was cancelled before it began.
    ///
    /// # Errors
    ///
    /// The error itself, if the run does not end with it; or what keeps the journal from being written.
    pub async fn end_with(&self, error: DurableError) -> Result<RunOutput, DurableError> {
        if !ends_run(&error) {
            return Err(error);
        }
        let said = self.core.state().ledger.status().last_message.clone();
        let (exit_reason, ended) = end_event(&error, said);
        self.emit(ended);
        let output = self.core.state().ledger.status().output(Some(exit_reason));
        self.finish(&output).await?;
        Ok(output)
    }

    pub(crate) fn executor(&self) -> &Executor {
        self.granting.get().unwrap_or(&self.executor)
    }

    /// What puts the run away from outside, for example when Ctrl-C is pressed.
    #[must_use]
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt {
            stop: Arc::clone(&self.core.stop),
        }
    }

    /// Returns when the first of the times is over that the run waits for; `None` if it waits for none. A run that was put
    /// away goes on then, if somebody resumes it.
    #[must_use]
    pub fn wakes_at(&self) -> Option<DateTime<Utc>> {
        self.core.flow().timers().map(|timer| timer.due).min()
    }

    /// Writes the events that are not in the journal yet.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being written.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.core.flush().await
    }

    /// Ends the run: its last events, its status and its output, in one transaction. Hooks are notified of
    /// what they have not seen yet.
    ///
    /// An output that is not final, of a run that waits for a person, ends nothing: the events are written
    /// and the run can be resumed.
    ///
    /// # Errors
    ///
    /// [`DurableError::NonDeterminism`] if the journal holds steps that the loop did not ask for,
    /// [`DurableError::Engine`] for what keeps the journal from being written. The run can be resumed.
    pub async fn finish(&self, output: &RunOutput) -> Result<(), DurableError> {
        if !output.state.is_final() {
            return Ok(self.flush().await?);
        }
        let (asked, recorded) = (self.core.last_op(), self.core.last_recorded);
        if asked < recorded {
            return Err(DurableError::NonDeterminism {
                step: format!("the end (operation {})", asked + 1),
                recorded: format!("{recorded} operations"),
                requested: format!("the end after {asked}"),
            });
        }
        drop(std::mem::take(&mut *self.flight()));
        // The run is over: a hook can no longer end it.
        let events = self.core.take_unobserved(self.executor().is_watched());
        drop(self.core.observe(self.executor(), &events).await);
        Ok(self.core.finish(output.clone()).await?)
    }

    pub(crate) fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run asks for something: whatever it is has a number of its own.
    fn ask(&self) {
        let op = self.core.next_op();
        let mut flight = self.flight();
        let flow = self.core.flow();
        flight.ask(op, |handle| flow.is_open(handle));
    }

    /// Lets go of a run that does not go on here: its process is not lost with it.
    async fn or_let_go<T>(&self, result: Result<T, DurableError>) -> Result<T, DurableError> {
        let goes_on = matches!(result, Ok(_) | Err(DurableError::Cancelled { .. }));
        if !goes_on {
            self.core.losses.let_go().await;
        }
        result
    }
}

impl DurableContext for JournaledContext {
    fn run_id(&self) -> &RunId {
        &self.core.run_id
    }

    fn engine(&self) -> &str {
        &self.core.engine
    }

    fn now(&self) -> DateTime<Utc> {
        self.core.now()
    }

    fn uuid(&self) -> Uuid {
        self.core.uuid()
    }

    /// A deadline counts from the newest observation, which is the same however often the process is restarted, so that
    /// nothing has to be written before it is over.
    fn start(&self, what: Started) -> Handle {
        let core = &self.core;
        core.count_operation();
        let op = core.next_op();
        let operation = Arc::new(operation_of(op, &what));
        let handle = operation.handle();
        let is_write = matches!(&what, Started::Step(step) if step.is_write());
        let now = core.now();
        let mut flow = core.flow();
        flow.start_as(handle, what, Vec::new(), now);
        if is_write {
            // That it was given up is journaled like any other end.
            drop(flow.take(now, [Fact::Made { handle }]));
        }
        let is_over = flow.has_ended(&[handle]);
        let due = flow.timers().find(|timer| timer.handle == handle);
        let wake_at = due.map(|timer| Instant::now().checked_add(remaining(timer.due)));
        drop(flow);
        let mut flight = self.flight();
        if !is_over {
            flight.start(operation, op <= core.last_recorded);
        }
        flight.wakes.extend(wake_at.map(|at| (handle, at)));
        handle
    }

    fn leave(&self, handle: Handle) -> bool {
        neuron_flow::leave(self, handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.ask();
        let observed = neuron_flow::next(self, handles, signals).await;
        self.or_let_go(observed).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.ask();
        self.core.count_operation();
        let taken = neuron_flow::poll(self, signals).await;
        self.or_let_go(taken).await
    }

    fn should_continue_as_new(&self) -> bool {
        self.core.is_due()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<bool, DurableError> {
        self.core.stop.check()?;
        if !self.core.flow().is_idle() {
            return Err(still_in_flight());
        }
        let op = self.core.last_op();
        if self.core.is_behind(op) {
            return Err(DurableError::NonDeterminism {
                step: format!("the end of a segment (operation {op})"),
                recorded: "later steps or events".to_owned(),
                requested: "a new segment".to_owned(),
            });
        }
        let state = serde_json::to_string(state).map_err(DurableError::engine)?;
        let patches = self.patches.clone();
        self.core.begin_segment(state, patches).await?;
        Ok(true)
    }

    fn emit(&self, event: RunEvent) {
        if let Some(recorded) = self.core.emit(event) {
            self.sink.event(&recorded);
        }
    }

    fn patched(&self, id: &str) -> bool {
        self.core.is_patched(id)
    }
}

impl fmt::Debug for JournaledContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournaledContext")
            .field("run_id", &self.core.run_id)
            .field("executor", &self.executor)
            .field("park", &self.park)
            .finish_non_exhaustive()
    }
}
