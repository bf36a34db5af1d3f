//! Which executor acts for which agent.

use std::sync::Arc;

use neuron_runtime::{EventSink, Executor};
use neuron_types::{AgentSpec, StepFailure};

use crate::{Metrics, drain::Drain};

/// Knows the executor of an agent.
///
/// It is asked for every effect that is performed, so it should remember what it made. The agent of a tool
/// call may come without its instructions, its model and the definitions of the tools that are not called.
pub trait Executors: Send + Sync + 'static {
    /// The executor that acts for this agent.
    ///
    /// # Errors
    ///
    /// What keeps this worker from acting for it; the step fails with that.
    fn executor(&self, agent: &AgentSpec) -> Result<Executor, StepFailure>;
}

/// One executor for all agents.
impl Executors for Executor {
    fn executor(&self, _agent: &AgentSpec) -> Result<Executor, StepFailure> {
        Ok(self.clone())
    }
}

/// What acts in this worker, and what is counted of it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Acting {
    pub(crate) executors: Arc<dyn Executors>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Arc<Drain>,
}

impl Acting {
    /// The executor that acts for this agent, with the worker's sink told what it says while it acts.
    pub(crate) fn executor(&self, agent: &AgentSpec) -> Result<Executor, StepFailure> {
        let executor = self.executors.executor(agent)?;
        Ok(executor.with_sink(Arc::clone(&self.sink)))
    }
}
