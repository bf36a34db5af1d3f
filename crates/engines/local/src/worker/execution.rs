//! One run in the hands of a worker.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use neuron_executor::EventSink;
use neuron_types::{DurableError, Refusal, RunId, RunOutput, RunPhase, with_causes};
use tokio_util::sync::CancellationToken;

use crate::{
    Journal, JournalError, JournaledContext, LocalWorkflow, ParkPolicy,
    worker::source::{ExecutorSource, RunExecutor, WaitingRun},
};

/// Makes the sink of a run's events.
pub(crate) type Sinks = Arc<dyn Fn(&RunId) -> Arc<dyn EventSink> + Send + Sync>;

/// What the runs of a worker are executed with.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) journal: Journal,
    pub(crate) source: Arc<dyn ExecutorSource>,
    pub(crate) workflow: LocalWorkflow,
    pub(crate) sinks: Option<Sinks>,
    pub(crate) segment_events: Option<u64>,
    pub(crate) segment_bytes: Option<u64>,
    /// Cancelled when the worker ends: what is in flight may finish.
    pub(crate) drain: CancellationToken,
    /// Cancelled when what is in flight is ended, too.
    pub(crate) end: CancellationToken,
}

/// The result of taking a run up.
#[derive(Debug)]
pub(crate) enum Outcome {
    Ended(Box<RunOutput>),
    Parked {
        state: RunPhase,
        last_entry: i64,
        wakes_at: Option<DateTime<Utc>>,
    },
    /// Another process has it, or it is over.
    NotHere,
    Left(String),
    Stuck(String),
    PutAway,
}

impl Means {
    /// Executes a run until it is over, waits for something, or the worker ends. `started` is called when it is taken up.
    pub(crate) async fn execute(
        &self,
        run_id: &RunId,
        started: impl FnOnce(&WaitingRun) + Send,
    ) -> Outcome {
        let run = match self.waiting(run_id).await {
            Ok(run) => run,
            Err(error) => return not_taken(error),
        };
        let RunExecutor {
            executor,
            agents,
            workflow,
            patches,
        } = match self.source.executor(&run).await {
            Ok(found) => found,
            Err(lacking) => return Outcome::Left(lacking.reason),
        };
        if self.drain.is_cancelled() {
            return Outcome::PutAway;
        }
        let mut door = match JournaledContext::open(&self.journal, run_id, executor).await {
            Ok(door) => door
                .with_agents(agents)
                .with_patches(patches)
                .with_park_policy(ParkPolicy::Suspend),
            Err(error) => return not_taken(error),
        };
        if let Some(sinks) = &self.sinks {
            door = door.with_sink(sinks(run_id));
        }
        if let Some(operations) = self.segment_events {
            door = door.continue_as_new_after(operations);
        }
        if let Some(bytes) = self.segment_bytes {
            door = door.continue_as_new_after_bytes(bytes);
        }
        started(&run);
        match self.attend(&door, workflow.unwrap_or(self.workflow)).await {
            Ok(output) => Outcome::Ended(Box::new(output)),
            Err(DurableError::Suspended) => match self.put_away(&door, run_id).await {
                Ok(parked) => parked,
                Err(error) => Outcome::Stuck(with_causes(&error)),
            },
            // "The engine failed" alone is no information here: the error in it names the part that failed.
            Err(DurableError::Engine { source }) => Outcome::Stuck(with_causes(&*source)),
            Err(error) => Outcome::Stuck(with_causes(&error)),
        }
    }

    async fn waiting(&self, run_id: &RunId) -> Result<WaitingRun, JournalError> {
        let request = self.journal.load_request(run_id).await?;
        let directory = self.journal.directory(run_id).await?;
        Ok(WaitingRun {
            was_upgraded: self.journal.was_upgraded(run_id).await?,
            ..WaitingRun::new(run_id.clone(), request.agent, directory)
        })
    }

    /// Executes the run, and stops it when the worker ends.
    async fn attend(
        &self,
        door: &JournaledContext,
        workflow: LocalWorkflow,
    ) -> Result<RunOutput, DurableError> {
        let interrupt = door.interrupt_handle();
        let mut run = std::pin::pin!(door.execute(workflow));
        let (mut is_draining, mut is_ending) = (false, false);
        loop {
            tokio::select! {
                biased;
                ended = &mut run => return ended,
                () = self.end.cancelled(), if !is_ending => {
                    is_ending = true;
                    interrupt.interrupt();
                }
                () = self.drain.cancelled(), if !is_draining => {
                    is_draining = true;
                    interrupt.interrupt_between_steps();
                }
            }
        }
    }

    /// Returns how the run was left, while no other process can have it.
    async fn put_away(
        &self,
        door: &JournaledContext,
        run_id: &RunId,
    ) -> Result<Outcome, JournalError> {
        door.flush().await?;
        if self.drain.is_cancelled() {
            return Ok(Outcome::PutAway);
        }
        let status = self.journal.status(run_id).await?;
        let lapse = status.approvals.iter().filter_map(|open| open.expires_at);
        Ok(Outcome::Parked {
            state: status.state,
            last_entry: self.journal.last_entry(run_id).await?,
            wakes_at: lapse.chain(door.wakes_at()).min(),
        })
    }
}

/// Returns the outcome of a run that could not be taken up.
fn not_taken(error: JournalError) -> Outcome {
    match error {
        JournalError::Executing { .. }
        | JournalError::UnknownRun { .. }
        | JournalError::Refused(Refusal::RunOver { .. }) => Outcome::NotHere,
        error => Outcome::Left(with_causes(&error)),
    }
}
