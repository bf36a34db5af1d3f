//! The tools that a run has loaded.

use std::{cell::LazyCell, collections::BTreeMap};

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

    /// Loads these tools for this agent, in their order, and returns how many of them were not loaded before. One that the agent
    /// does not have, or that is [always sent](AgentSpec::searched_tools), is not.
    pub fn load<'a>(&mut self, agent: &AgentSpec, tools: impl IntoIterator<Item = &'a str>) -> u32 {
        // Which are searched depends on the size of all of them.
        let searched = LazyCell::new(|| agent.searched_tools());
        let mut count = 0_u32;
        for tool in tools {
            let is_loaded = self.of(&agent.name).iter().any(|known| known == tool);
            if is_loaded || !searched.iter().any(|known| known.name == tool) {
                continue;
            }
            let loaded = self.0.entry(agent.name.clone()).or_default();
            loaded.push(tool.to_owned());
            if loaded.len() > MOST {
                loaded.remove(0);
            }
            count = count.saturating_add(1);
        }
        count
    }

    /// Returns whether nothing is loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
