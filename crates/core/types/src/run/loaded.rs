//! The tools that a run has loaded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::AgentSpec;

/// How many tools an agent of a run has loaded at once.
const MOST: usize = 64;

/// The tools that the agents of a run have loaded, in the order in which they did: each has its own. The newest 64 stay loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoadedTools(BTreeMap<String, Vec<String>>);

impl LoadedTools {
    /// Returns the names of those that this agent has loaded.
    #[must_use]
    pub fn of(&self, agent: &str) -> &[String] {
        self.0.get(agent).map(Vec::as_slice).unwrap_or_default()
    }

    /// Loads a tool for this agent, and returns whether it was not loaded before. One that the agent does not have, or that is
    /// [always sent](AgentSpec::is_searched), is not.
    pub fn load(&mut self, agent: &AgentSpec, tool: &str) -> bool {
        if self.of(&agent.name).iter().any(|known| known == tool) || !agent.is_searched(tool) {
            return false;
        }
        let loaded = self.0.entry(agent.name.clone()).or_default();
        loaded.push(tool.to_owned());
        if loaded.len() > MOST {
            loaded.remove(0);
        }
        true
    }

    /// Returns whether nothing is loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
