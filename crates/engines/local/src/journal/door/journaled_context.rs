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

/// A door that journals: a run continues in another process where this one stopped, however it stopped.
///
/// # What is journaled when
///
/// The end of what was started is on the disk before the loop observes it, in one transaction with the events
/// that came before and with its place in the order of observations. A signal that a wait takes is journaled
/// under the number of that wait, and so is that the run was cancelled. A write's start is on the disk before
/// the write is made, and so is the failure of an attempt before the next one. Events of a step that takes
/// longer than a moment are written while it is in flight.
///
/// # What a replay does
///
/// The loop starts anew and makes the same requests again. A wait that took a signal takes it again; any other wait
/// observes the end with the first place among those that it waits for. So the run observes the same as before,
/// whatever was journaled since, and steps that were dropped are not repeated. A request that differs from the journal
/// is a [`DurableError::NonDeterminism`], and the journal is not changed. Where the journal has no answer, steps that
/// were in flight continue: a model call, a read and an idempotent call with their next attempt, under the same
/// idempotency key, after the rest of its delay; a write fails with
/// [`OutcomeUnknown`](neuron_types::FailureKind::OutcomeUnknown) and is not called. A step that was in flight when ten
/// processes in a row were killed, or dropped the run, fails with
/// [`WorkerLost`](neuron_types::FailureKind::WorkerLost), and is not repeated either: it may be what ends them. A run
/// that was put away in order is not lost.
///
/// # Segments
///
/// A run whose journal has become long continues as new, in another segment: the loop's state is written, and the steps
/// that led to it are dropped, in one transaction. So the time of a replay does not grow with the run.
/// [`execute`](Self::execute) starts the workflow with what [`run_start`](Self::run_start) returns: the run's input, or
/// the state that the newest segment began with. The run's id, status, events and signals are those of one run.
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
    /// The executor with the grants of the agent, once these are known.
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
    /// no other process executes the run.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, [`JournalError::Executing`] if
    /// another process executes it, [`JournalError::OlderRun`] or [`JournalError::OtherVersion`] if a build with
    /// another form of the journal or of the run's state started it, or the error of reading the journal.
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
    /// The error of reading the journal.
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

    /// Sets the sink of the run's events. Default is no sink.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.core.set_sink(Arc::clone(&sink));
        self.sink = sink;
        self
    }

    /// Sets the agents among which the run's agent is looked up by name, and from which a run that is asked to adopt
    /// the current definition gets it. Default is no agent: the run must have been started with a definition, or been
    /// taken up before.
    ///
    /// The executor does what the agent's definition among them grants, and asks what it asks: see
    /// [`Executor::granting_owner`](neuron_executor::Executor::granting_owner).
    #[must_use]
    pub fn with_agents(mut self, agents: Agents) -> Self {
        let definitions = agents.definitions().cloned();
        self.executor = self.executor.with_definitions(definitions);
        self.agents = agents;
        self
    }

    /// Declares the [patches](DurableContext::patched) of the run's workflow, besides those of the agents' loop.
    /// Default is no patch. A segment keeps the patches with which it began.
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

    /// Makes the run, if it [is to be put away](ParkPolicy::Suspend), wait until nothing continues below it: the worker
    /// that executes the runs that it starts counts such looks. Default is to put it away whenever nothing of the run
    /// itself continues.
    #[must_use]
    pub fn with_runs_below(mut self, looks: IdleLooks) -> Self {
        self.below = Some(looks);
        self
    }

    /// Sets the most operations of a segment; before that the run continues as new. Default is 4,000,
    /// which is about one segment per thousand turns with a tool call. With 0 there is one after each step.
    ///
    /// A step that makes more operations than any before it may exceed it.
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

    /// Returns what the workflow starts with: the input of the run, or the state in which it began its newest
    /// segment.
    ///
    /// A run does not continue as new, and does not continue from a later segment, before this was called.
    ///
    /// # Errors
    ///
    /// The error of reading the journal.
    pub async fn run_start(&self) -> Result<RunStart, JournalError> {
        let start = self.core.run_start(self.patches.clone()).await?;
        if let Ok(agent) = self.agents.get(start.agent()) {
            let granting = || self.executor.clone().granting_owner(agent);
            self.granting.get_or_init(granting);
        }
        Ok(start)
    }

    /// Executes the run with this workflow, from where it is to its end, and journals its output. A run that ends
    /// before it has begun, such as one that is cancelled first, has an output too.
    ///
    /// # Errors
    ///
    /// The error that keeps the run from continuing here, as [`run_start`](Self::run_start) and the workflow return it;
    /// [`DurableError::Suspended`] if the run waits and is put away. It can be resumed.
    pub async fn execute(&self, workflow: LocalWorkflow) -> Result<RunOutput, DurableError> {
        let output = match workflow(self, self.run_start().await?).await {
            Ok(output) => output,
            Err(error) => return self.end_with(error).await,
        };
        self.finish(&output).await?;
        Ok(output)
    }

    /// Ends the run whose workflow returned this error in the place of an output, such as one that was cancelled before
    /// it began.
    ///
    /// # Errors
    ///
    /// The error itself, if the run does not end with it; or the error of writing the journal.
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

    /// Returns the handle that puts the run away from outside, for example when Ctrl-C is pressed.
    #[must_use]
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt {
            stop: Arc::clone(&self.core.stop),
        }
    }

    /// Returns when the first of the times ends that the run waits for; `None` if it waits for no time. A run that was
    /// put away continues then, if a process resumes it.
    #[must_use]
    pub fn wakes_at(&self) -> Option<DateTime<Utc>> {
        self.core.flow().timers().map(|timer| timer.due).min()
    }

    /// Writes the events that are not in the journal yet.
    ///
    /// # Errors
    ///
    /// The error of writing the journal.
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
    /// [`DurableError::NonDeterminism`] if the journal has steps that the loop did not request,
    /// [`DurableError::Engine`] for the error of writing the journal. The run can be resumed.
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

    /// Begins a request of the run: each request has a number of its own.
    fn ask(&self) {
        let op = self.core.next_op();
        let mut flight = self.flight();
        let flow = self.core.flow();
        flight.ask(op, |handle| flow.is_open(handle));
    }

    /// Releases a run that does not continue here, so that the run does not count as lost with its process.
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
    /// nothing has to be written before the deadline ends.
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
