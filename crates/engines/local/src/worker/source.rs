//! What a worker executes a run with.

use std::{future::Future, path::PathBuf, pin::Pin};

use neuron_executor::{Agents, Executor, Executors};
use neuron_types::{AgentRef, RunId};

/// A run that a worker is about to take up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WaitingRun {
    /// The run.
    pub run_id: RunId,
    /// Its agent: the definition that it keeps, or only the name if nobody has taken it up yet.
    pub agent: AgentRef,
    /// The directory that it works in, if the journal has one: see [`Journal::directory`](crate::Journal::directory).
    pub directory: Option<PathBuf>,
    /// Somebody wished that it adopts the current definition of its agent: see
    /// [`Journal::was_upgraded`](crate::Journal::was_upgraded).
    pub was_upgraded: bool,
}

impl WaitingRun {
    pub(crate) fn new(run_id: RunId, agent: AgentRef, directory: Option<PathBuf>) -> Self {
        Self {
            run_id,
            agent,
            directory,
            was_upgraded: false,
        }
    }
}

/// What acts for a run, and the definitions among which its agent is looked up where it is only named.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunExecutor {
    /// Makes the calls of the run.
    pub executor: Executor,
    /// The definitions.
    pub agents: Agents,
}

impl RunExecutor {
    /// Returns what acts for a run.
    #[must_use]
    pub fn new(executor: Executor, agents: Agents) -> Self {
        Self { executor, agents }
    }
}

/// Why a worker leaves a run to others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotServed {
    /// A sentence for people.
    pub reason: String,
}

impl NotServed {
    /// Returns this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// Says what each run of a worker is executed with.
///
/// It is asked whenever the worker takes a run up: once more when one goes on that was parked, and now and then for one
/// that was left.
pub trait ExecutorSource: Send + Sync + 'static {
    /// Returns what acts for this run.
    ///
    /// # Errors
    ///
    /// [`NotServed`]: the run stays as it is, for whoever has what it needs.
    fn executor<'a>(
        &'a self,
        run: &'a WaitingRun,
    ) -> Pin<Box<dyn Future<Output = Result<RunExecutor, NotServed>> + Send + 'a>>;
}

/// The same executors and agents for every run, wherever it works.
impl ExecutorSource for (Executors, Agents) {
    fn executor<'a>(
        &'a self,
        run: &'a WaitingRun,
    ) -> Pin<Box<dyn Future<Output = Result<RunExecutor, NotServed>> + Send + 'a>> {
        let (executors, agents) = self;
        let found = executors.of(run.agent.name());
        let found = found.map(|executor| RunExecutor::new(executor, agents.clone()));
        let found = found.map_err(|lacking| NotServed::new(lacking.message));
        Box::pin(std::future::ready(found))
    }
}
