//! Agents that a worker serves from some time on.

use std::sync::{Arc, OnceLock};

use neuron_types::AgentSpec;

use crate::Executor;

/// An agent of a worker that is served as soon as all that it needs is there. Until then its runs and steps are left to
/// other workers, as those of an agent that is not known. Cheap to clone; clones are the same agent.
///
/// A worker has it in its [`Agents`](crate::Agents) and in its [`Executors`](crate::Executors).
#[derive(Debug, Clone)]
pub struct AwaitedAgent {
    name: String,
    served: Arc<OnceLock<(AgentSpec, Executor)>>,
}

impl AwaitedAgent {
    /// Makes an agent that is not served yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            served: Arc::default(),
        }
    }

    /// Returns the agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Serves the agent from now on, as this definition and by this executor. The first call counts.
    pub fn serve(&self, definition: AgentSpec, executor: Executor) {
        // Set before: it is served already.
        self.served.set((definition, executor)).ok();
    }

    /// Returns its definition, once it is served.
    #[must_use]
    pub fn definition(&self) -> Option<&AgentSpec> {
        self.served.get().map(|(definition, _)| definition)
    }

    /// Returns what its calls are made with, once it is served.
    #[must_use]
    pub fn executor(&self) -> Option<&Executor> {
        self.served.get().map(|(_, executor)| executor)
    }
}
