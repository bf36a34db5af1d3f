//! Which executor makes the calls of which agent.

use std::{collections::BTreeMap, sync::Arc};

use neuron_runtime::{EventSink, Executor};
use neuron_types::{FailureKind, StepFailure};

/// The executors of a worker. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Executors(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Single(Executor),
    ByAgent(Arc<BTreeMap<String, Executor>>),
}

impl Executors {
    /// One executor for every agent.
    #[must_use]
    pub fn single(executor: Executor) -> Self {
        Self(Kind::Single(executor))
    }

    /// An executor for each of these agents, by name. Steps of other agents fail.
    pub fn by_agent(executors: impl IntoIterator<Item = (String, Executor)>) -> Self {
        Self(Kind::ByAgent(Arc::new(executors.into_iter().collect())))
    }

    /// Has every executor tell the sink answers while they come.
    pub(crate) fn with_sink(self, sink: &Arc<dyn EventSink>) -> Self {
        let watched = |executor: Executor| executor.with_sink(Arc::clone(sink));
        Self(match self.0 {
            Kind::Single(executor) => Kind::Single(watched(executor)),
            Kind::ByAgent(executors) => Kind::ByAgent(Arc::new(
                executors
                    .iter()
                    .map(|(name, executor)| (name.clone(), watched(executor.clone())))
                    .collect(),
            )),
        })
    }

    pub(crate) fn get(&self, agent: &str) -> Result<&Executor, StepFailure> {
        let executors = match &self.0 {
            Kind::Single(executor) => return Ok(executor),
            Kind::ByAgent(executors) => executors,
        };
        executors.get(agent).ok_or_else(|| {
            let known: Vec<_> = executors.keys().map(String::as_str).collect();
            StepFailure::new(
                FailureKind::InvalidRequest,
                format!(
                    "this worker has no agent {agent:?}: start the run with one of {}, or add it to the worker's agent file",
                    known.join(", ")
                ),
            )
        })
    }
}
