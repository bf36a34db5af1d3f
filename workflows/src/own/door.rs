//! The door of custom workflows.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, ChildEnd, DurableContext, DurableError, Handle, Observed, Parent, RunEvent, RunId,
    RunState, RunStatus, Signal, Started, signal,
};
use uuid::Uuid;

use super::{children::Children, workflow_error::WorkflowError};

/// The door through which a custom workflow acts: the engine's door, and the agents that take turns in its run.
///
/// It is a [`DurableContext`], so that a workflow sleeps, waits for signals, takes the time and makes ids as a run does
/// everywhere: [`sleep`](DurableContext::sleep), [`wait_for_signal`](DurableContext::wait_for_signal),
/// [`now`](DurableContext::now), [`uuid`](DurableContext::uuid).
pub struct Door<D> {
    door: D,
    /// The definition of the run, with the agents of its team.
    pub(crate) workflow: AgentSpec,
    /// The run that started this one, if one did.
    pub(crate) parent: Option<Box<Parent>>,
    turns: Mutex<Turns>,
    children: Mutex<Children>,
}

/// The state that the agents of a run share.
pub(crate) struct Turns {
    /// The status that the run's events lead to.
    pub(crate) status: RunStatus,
    /// Whether one of them is answering.
    pub(crate) is_taken: bool,
}

impl<D: DurableContext> Door<D> {
    pub(crate) fn new(door: D, workflow: &AgentSpec, parent: Option<Box<Parent>>) -> Self {
        let status = RunStatus::new(
            door.run_id().clone(),
            door.engine(),
            &workflow.name,
            door.now(),
        );
        Self {
            workflow: workflow.clone(),
            parent,
            children: Mutex::default(),
            turns: Mutex::new(Turns {
                status,
                is_taken: false,
            }),
            door,
        }
    }

    /// Emits an event of the run, including its start and its end.
    pub(crate) fn record(&self, event: RunEvent) {
        let now = self.door.now();
        self.turns().status.apply(&event, now);
        self.door.emit(event);
    }

    /// Takes the end of a run that this one started, and returns whether the signal was such an end.
    pub(crate) fn takes_end(&self, signal: &Signal) -> bool {
        if signal.name != signal::CHILD {
            return false;
        }
        let Ok(end) = signal.clone().read::<ChildEnd>() else {
            return false;
        };
        let ended = self.children().end(end);
        let is_taken = ended.is_some();
        if let Some(event) = ended {
            self.record(event);
        }
        is_taken
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

    pub(crate) fn children(&self) -> MutexGuard<'_, Children> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn team(&self) -> impl Iterator<Item = &AgentSpec> {
        self.workflow.team.iter().flatten()
    }

    /// Returns the agent of this name, and the scope of its steps.
    pub(crate) fn member(&self, agent: &str) -> Result<(u16, &AgentSpec), WorkflowError> {
        let found = (1..).zip(self.team()).find(|(_, spec)| spec.name == agent);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.team().map(|spec| spec.name.as_str()).collect();
            WorkflowError::UnknownAgent {
                agent: agent.to_owned(),
                known: match known.as_slice() {
                    [] => "none".to_owned(),
                    known => known.join(", "),
                },
            }
        })
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
        loop {
            match self.door.next(handles, signals).await? {
                // An agent that waits for runs of its own may receive the ends of the workflow's.
                Observed::Signal(signal) if self.takes_end(&signal) => {}
                observed => return Ok(observed),
            }
        }
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        loop {
            match self.door.poll(signals).await? {
                Some(signal) if self.takes_end(&signal) => {}
                polled => return Ok(polled),
            }
        }
    }

    /// Returns `false`: the variables of a custom workflow are not carried over.
    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    /// Emits an event. The run begins and ends with the workflow, and not with one of its agents.
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
        let team = self.team().map(|spec| &spec.name);
        f.debug_struct("Door")
            .field("team", &team.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
