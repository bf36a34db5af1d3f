//! The agents that a worker has.

use std::{collections::BTreeMap, sync::Arc};

use neuron_types::AgentSpec;

use crate::AwaitedAgent;

/// The definitions of the agents that a worker has, by name: what runs begin with that are started by name. Cheap to clone.
///
/// ```
/// use neuron_executor::Agents;
/// use neuron_types::AgentSpec;
///
/// let agents: Agents = [AgentSpec::default()].into_iter().collect();
/// assert_eq!(agents.get("default")?, &AgentSpec::default());
/// # Ok::<(), neuron_executor::UnknownAgent>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Agents {
    known: Arc<BTreeMap<String, AgentSpec>>,
    /// Known from some time on.
    awaited: Arc<BTreeMap<String, AwaitedAgent>>,
}

impl Agents {
    /// Returns the definition of the agent with this name.
    ///
    /// # Errors
    ///
    /// [`UnknownAgent`].
    pub fn get(&self, name: &str) -> Result<&AgentSpec, UnknownAgent> {
        let awaited = || self.awaited.get(name)?.definition();
        let found = self.known.get(name).or_else(awaited);
        found.ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
            known: self.known.keys().cloned().collect(),
        })
    }

    /// Adds agents that are known as soon as they are served.
    #[must_use]
    pub fn awaiting(mut self, agents: impl IntoIterator<Item = AwaitedAgent>) -> Self {
        let mut awaited = BTreeMap::clone(&self.awaited);
        awaited.extend(agents.into_iter().map(|it| (it.name().to_owned(), it)));
        self.awaited = Arc::new(awaited);
        self
    }

    /// Returns the definitions, in the order of their names, without those of [awaited](Self::awaiting) agents.
    pub fn definitions(&self) -> impl Iterator<Item = &AgentSpec> {
        self.known.values()
    }
}

impl FromIterator<AgentSpec> for Agents {
    fn from_iter<I: IntoIterator<Item = AgentSpec>>(agents: I) -> Self {
        let named = agents.into_iter().map(|agent| (agent.name.clone(), agent));
        Self {
            known: Arc::new(named.collect()),
            awaited: Arc::default(),
        }
    }
}

/// A worker has no agent of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent named {name:?} here (known: {})", list(.known))]
pub struct UnknownAgent {
    /// The name.
    pub name: String,
    /// The names of those that it has, sorted.
    pub known: Vec<String>,
}

fn list(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        known => known.join(", "),
    }
}
