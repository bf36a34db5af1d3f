//! The source of a worker's executors.

use std::{fmt, future::Future, path::PathBuf, pin::Pin};

use neuron_executor::{Agents, Executor, Executors};
use neuron_types::{AgentRef, RunId};

use crate::LocalWorkflow;

/// A run that a worker is about to take up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WaitingRun {
    /// The run.
    pub run_id: RunId,
    /// Its agent: the definition that it keeps, or only the name if it was never taken up.
    pub agent: AgentRef,
    /// The directory that it works in, if the journal has one: see [`Journal::directory`](crate::Journal::directory).
    pub directory: Option<PathBuf>,
    /// Whether it was asked to adopt the current definition of its agent: see
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

/// The executor of a run, and the definitions among which its agent is looked up if it is only named.
#[derive(Clone)]
#[non_exhaustive]
pub struct RunExecutor {
    /// Makes the calls of the run.
    pub executor: Executor,
    /// The definitions.
    pub agents: Agents,
    /// The workflow of the run. Default is the worker's.
    pub workflow: Option<LocalWorkflow>,
    /// The patches that the workflow declares: see
    /// [`JournaledContext::with_patches`](crate::JournaledContext::with_patches). Default is no patches.
    pub patches: &'static [&'static str],
}

impl RunExecutor {
    /// Returns the executor and the definitions for a run.
    #[must_use]
    pub fn new(executor: Executor, agents: Agents) -> Self {
        Self {
            executor,
            agents,
            workflow: None,
            patches: &[],
        }
    }

    /// Sets the workflow of the run, and the patches that it declares.
    #[must_use]
    pub fn with_workflow(
        mut self,
        workflow: LocalWorkflow,
        patches: &'static [&'static str],
    ) -> Self {
        self.workflow = Some(workflow);
        self.patches = patches;
        self
    }
}

impl fmt::Debug for RunExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunExecutor")
            .field("executor", &self.executor)
            .field("agents", &self.agents)
            .field("has_workflow", &self.workflow.is_some())
            .field("patches", &self.patches)
            .finish()
    }
}

/// Why a worker leaves a run to other workers.
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

/// Provides the executor of each run of a worker.
///
/// It is called whenever the worker takes a run up: again when a parked run continues, and now and then for a run
/// that was left.
pub trait ExecutorSource: Send + Sync + 'static {
    /// Returns the executor for this run.
    ///
    /// # Errors
    ///
    /// [`NotServed`]: the run stays as it is, for a worker that has what it needs.
    fn executor<'a>(
        &'a self,
        run: &'a WaitingRun,
    ) -> Pin<Box<dyn Future<Output = Result<RunExecutor, NotServed>> + Send + 'a>>;
}

/// The same executors and agents for every run, whatever its directory.
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
