//! What a workflow of one's own acts through.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, DurableContext, DurableError, Handle, Observed, RunEvent, RunId, RunState,
    RunStatus, Signal, Started,
};
use uuid::Uuid;

/// What a workflow of one's own acts through: the engine's door, and the agents that take turns in its run.
///
/// It is a [`DurableContext`], so that a workflow sleeps, waits for signals, takes the time and makes ids as a run does
/// everywhere: [`sleep`](DurableContext::sleep), [`wait_for_signal`](DurableContext::wait_for_signal),
/// [`now`](DurableContext::now), [`uuid`](DurableContext::uuid).
pub struct Door<D> {
    door: D,
    pub(crate) team: Vec<AgentSpec>,
    turns: Mutex<Turns>,
}

/// What the agents of a run have in common.
pub(crate) struct Turns {
    /// What the run's events come to.
    pub(crate) status: RunStatus,
    /// One of them is answering.
    pub(crate) is_taken: bool,
}

impl<D: DurableContext> Door<D> {
    pub(crate) fn new(door: D, workflow: &AgentSpec) -> Self {
        let status = RunStatus::new(
            door.run_id().clone(),
            door.engine(),
            &workflow.name,
            door.now(),
        );
        Self {
            team: workflow.team.clone().unwrap_or_default(),
            turns: Mutex::new(Turns {
                status,
                is_taken: false,
            }),
            door,
        }
    }

    /// Emits what happened in the run, its start and its end too.
    pub(crate) fn record(&self, event: RunEvent) {
        let now = self.door.now();
        self.turns().status.apply(&event, now);
        self.door.emit(event);
    }

    /// Returns the engine's own door.
    pub const fn engine_door(&self) -> &D {
        &self.door
    }
}

impl<D> Door<D> {
    pub(crate) fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: DurableContext> DurableContext for Door<D> {
    fn run_id(&self) -> &RunId {
        self.door.run_id()
    }

    fn engine(&self) -> &str {
        self.door.engine()
    }

    fn now(&self) -> DateTime<Utc> {
        self.door.now()
    }

    fn uuid(&self) -> Uuid {
        self.door.uuid()
    }

    fn start(&self, what: Started) -> Handle {
        self.door.start(what)
    }

    fn leave(&self, handle: Handle) -> bool {
        self.door.leave(handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.door.next(handles, signals).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.door.poll(signals).await
    }

    /// Never: what a workflow of one's own has in its variables is not carried over.
    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    /// The run begins and ends with the workflow, and not with one of its agents.
    fn emit(&self, event: RunEvent) {
        if !matches!(
            event,
            RunEvent::RunStarted { .. } | RunEvent::RunEnded { .. }
        ) {
            self.record(event);
        }
    }

    fn patched(&self, id: &str) -> bool {
        self.door.patched(id)
    }
}

impl<D> fmt::Debug for Door<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let team = self.team.iter().map(|spec| &spec.name);
        f.debug_struct("Door")
            .field("team", &team.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
