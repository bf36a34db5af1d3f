//! The current definition of an agent, for a run that adopts it.

use std::sync::Arc;

use neuron_types::{AgentSpec, CurrentDefinition};

use super::{Executor, list};

impl Executor {
    /// Says to this executor, and to its clones from now on, which definitions its worker has now: a run that is to adopt
    /// the current one is given it from these. Default is the definition of the agent that it is [granting](Self::granting).
    ///
    /// The doors of local runs do this with their agents.
    #[must_use]
    pub fn with_definitions(mut self, agents: impl IntoIterator<Item = AgentSpec>) -> Self {
        let named = agents.into_iter().map(|agent| (agent.name.clone(), agent));
        self.definitions = Some(Arc::new(named.collect()));
        self
    }

    /// Returns the definition that the worker has now of the agent with this name, or says why there is none. No hook sees
    /// it.
    pub(super) fn current_definition(&self, name: &str) -> CurrentDefinition {
        let known = self.definitions.as_deref();
        let granted = self.grants.as_ref().map(|grants| grants.definition());
        let granted = granted.filter(|agent| agent.name == name);
        match known.and_then(|known| known.get(name)).or(granted) {
            Some(agent) => CurrentDefinition::Here(Box::new(self.as_given(agent.clone()))),
            None => {
                let names = known.into_iter().flat_map(|known| known.keys());
                let names = list(names.map(String::as_str));
                CurrentDefinition::Missing(format!(
                    "there is no agent named {name:?} here (known: {names})"
                ))
            }
        }
    }
}
