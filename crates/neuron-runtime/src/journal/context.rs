//! The journaled door.

use std::{fmt, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError, RunEvent,
    RunId, RunOutput, RunStart, RunState, ToolCall, ToolOutput,
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{Journal, JournalError, chapters::Longest, core::Core};
use crate::{
    EventSink, Executor, NoSink,
    local::{no_options, read_signal, run_uuid},
    stop::Stop,
};

/// What a run does while it waits for a signal that is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParkPolicy {
    /// It waits in this process.
    #[default]
    Wait,
    /// It is put away: the door call answers [`DurableError::Suspended`], and whoever resumes the run goes
    /// on waiting.
    Suspend,
}

/// A door that journals: a run goes on in another process where this one stopped, however it stopped.
///
/// # What is journaled when
///
/// Each step's result is on the disk before the loop sees it, in one transaction with the events that led
/// to it. A write's start is on the disk before the write is made, and so is the failure of an attempt
/// before the next one. Events of a step that takes longer than a moment are written while it goes on.
///
/// # What a replay does
///
/// The loop starts anew and asks for the same steps again; those that are journaled are answered from the
/// journal. A step that is not the one that the journal holds is a [`DurableError::NonDeterminism`], and
/// the journal is not changed. Of the steps that were in flight, a model call, a read and an idempotent
/// call go on with their next attempt, under the same idempotency key, after what is left of its delay; a
/// write fails with [`OutcomeUnknown`](neuron_types::FailureKind::OutcomeUnknown) and is not called.
///
/// # Chapters
///
/// A run whose journal has become long goes on in a new chapter: the loop's state is written, and the steps
/// that led to it are dropped, in one transaction. So a replay takes no longer however long the run is.
/// Start the workflow with what [`start`](Self::start) gives: the run's input, or the state that the newest
/// chapter began with. The run's id, status, events and signals are those of one run.
///
/// # Ending
///
/// When the loop is done, [`finish`](Self::finish) writes the output. A context that is dropped before that
/// leaves a run that can be resumed.
///
/// It works on a tokio runtime with time, and its futures are `Send`.
pub struct JournaledContext {
    pub(crate) core: Arc<Core>,
    pub(crate) executor: Executor,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) park: ParkPolicy,
    longest: Longest,
}

impl JournaledContext {
    /// Takes up a run, at its start or where its last executor stopped. Until this context is dropped,
    /// nobody else executes the run.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, [`JournalError::Executing`] if another
    /// process is at it, or what keeps the journal from being read.
    pub async fn open(
        journal: &Journal,
        run_id: &RunId,
        executor: Executor,
    ) -> Result<Self, JournalError> {
        Ok(Self {
            core: Arc::new(Core::open(journal, run_id).await?),
            executor,
            sink: Arc::new(NoSink),
            park: ParkPolicy::default(),
            longest: Longest::default(),
        })
    }

    /// Sets who watches the run. Default is nobody.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.sink = sink;
        self
    }

    /// Sets what the run does while it waits. Default is [`ParkPolicy::Wait`].
    #[must_use]
    pub fn with_park_policy(mut self, park: ParkPolicy) -> Self {
        self.park = park;
        self
    }

    /// Sets after how many operations the run goes on in a new chapter. Default is 4,000, which is one every
    /// thousand turns with a tool call or so. 0 is one after each step.
    #[must_use]
    pub fn roll_over_after(mut self, operations: u64) -> Self {
        self.longest.operations = operations;
        self
    }

    /// Sets after how many bytes of results the run goes on in a new chapter, if the operations are not
    /// enough before. Default is 32 MiB.
    #[must_use]
    pub fn roll_over_after_bytes(mut self, bytes: u64) -> Self {
        self.longest.bytes = bytes;
        self
    }

    /// What the workflow starts with: the run's input, or the state in which it began its newest chapter.
    ///
    /// A run begins no new chapter, and does not go on from one, before this was called.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being read.
    pub async fn start(&self) -> Result<RunStart, JournalError> {
        self.core.start().await
    }

    /// What puts the run away from outside, for example when Ctrl-C is pressed.
    #[must_use]
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt {
            stop: Arc::clone(&self.core.stop),
        }
    }

    /// Writes the events that are not in the journal yet.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being written.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.core.flush().await
    }

    /// Ends the run: its last events, its status and its output, in one transaction. Hooks are told what
    /// they have not been told yet.
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
        // The run is over: a hook can no longer end it.
        drop(self.observe().await);
        Ok(self.core.finish(output.clone()).await?)
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
        run_uuid(&self.core.run_id, self.core.next_uuid())
    }

    async fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        only(
            self.steps(std::slice::from_ref(request), std::slice::from_ref(options))
                .await,
        )
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        only(
            self.steps(std::slice::from_ref(call), std::slice::from_ref(options))
                .await,
        )
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        self.steps(calls, options).await
    }

    async fn sleep(&self, duration: Duration) -> Result<(), DurableError> {
        self.sleep_durably(duration).await
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        let payload = self.next_signal(name, timeout).await?;
        payload
            .map(|payload| read_signal(name, payload))
            .transpose()
    }

    fn should_continue_as_new(&self) -> bool {
        self.core.is_too_long(self.longest)
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<(), DurableError> {
        self.core.stop.check()?;
        let op = self.core.last_op();
        if self.core.is_behind(op) {
            return Err(DurableError::NonDeterminism {
                step: format!("the end of a chapter (operation {op})"),
                recorded: "later steps or events".to_owned(),
                requested: "a new chapter".to_owned(),
            });
        }
        let state = serde_json::to_string(state).map_err(DurableError::engine)?;
        Ok(self.core.begin_chapter(state).await?)
    }

    fn emit(&self, event: RunEvent) {
        if let Some(recorded) = self.core.emit(event) {
            self.sink.event(&recorded);
        }
    }
}

/// The result of a batch of one.
fn only<T>(mut results: Vec<Result<T, DurableError>>) -> Result<T, DurableError> {
    results.pop().unwrap_or_else(|| Err(no_options().into()))
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

/// Puts a run away from outside its executor's task. Cheap to clone; harmless when the run is over.
///
/// Unlike a cancelled run, an interrupted one goes on when it is resumed. A write in flight has an unknown
/// outcome then.
#[derive(Debug, Clone)]
pub struct Interrupt {
    stop: Arc<Stop>,
}

impl Interrupt {
    /// Ends effects in flight; this and every later door call answers [`DurableError::Suspended`].
    pub fn interrupt(&self) {
        self.stop.interrupt();
    }
}
