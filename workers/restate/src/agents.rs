//! The agents that this worker serves.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use neuron_restate::Executors;
use neuron_runtime::Executor;
use neuron_types::{AgentSpec, FailureKind, StepFailure};
use neuron_worker::ServedAgents;

/// How many executors are remembered for definitions that are not in the file: those of runs that an earlier
/// version of it started, and of single tools.
const REMEMBERED: usize = 64;

/// The agents of a file, and what calls of runs of other versions of it are made with.
pub(crate) struct Agents {
    own: ServedAgents,
    others: Mutex<BTreeMap<String, Executor>>,
}

impl Agents {
    pub(crate) fn new(own: ServedAgents) -> Self {
        Self {
            own,
            others: Mutex::default(),
        }
    }
}

impl Executors for Agents {
    fn executor(&self, agent: &AgentSpec) -> Result<Executor, StepFailure> {
        let mut own = self.own.agents().iter();
        if let Some((_, executor)) =
            own.find(|(known, _)| known.name == agent.name && serves(known, agent))
        {
            return Ok(executor.clone());
        }
        let broken = |message: String| StepFailure::new(FailureKind::Internal, message);
        let key = serde_json::to_string(agent).map_err(|error| broken(error.to_string()))?;
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executor) = others.get(&key) {
            return Ok(executor.clone());
        }
        let executor = self.own.executor_for(agent).map_err(|error| {
            broken(format!(
                "this worker cannot act for the agent {}: {error}",
                agent.name
            ))
        })?;
        if others.len() >= REMEMBERED {
            others.clear();
        }
        others.insert(key, executor.clone());
        Ok(executor)
    }
}

/// Whether the executor of the agent in the file is that of the agent of a run: the one may do no more than
/// the other.
fn serves(known: &AgentSpec, agent: &AgentSpec) -> bool {
    let tools = &known.request.tools;
    let knows_tools = agent.request.tools.iter().all(|tool| tools.contains(tool));
    if agent.request.provider.is_none() {
        // The agent of a tool call.
        return knows_tools;
    }
    knows_tools
        && tools.len() == agent.request.tools.len()
        && known.request.provider == agent.request.provider
        && known.context == agent.context
        && known.model_timeout == agent.model_timeout
}
