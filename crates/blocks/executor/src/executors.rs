//! Which executor acts for which agent.

use std::{collections::BTreeMap, sync::Arc};

use neuron_types::{FailureKind, Place, StepFailure};

use crate::{Agents, EventSink, Executor};

/// The executors of a worker: one for every agent, or one for each of those that it serves. Cheap to clone.
///
/// An executor acts for the agent of its name, whatever definition a run of that agent carries. What a run may ask
/// for is in its definition, and the loop refuses the rest; what is done about it is the worker's: see
/// [`granting`](Self::granting).
#[derive(Debug, Clone)]
pub struct Executors {
    by_agent: Arc<BTreeMap<String, Executor>>,
    /// That of all other agents.
    other: Option<Executor>,
}

/// One executor for every agent.
impl From<Executor> for Executors {
    fn from(executor: Executor) -> Self {
        Self {
            by_agent: Arc::default(),
            other: Some(executor),
        }
    }
}

impl Executors {
    /// An executor for each of these agents, by name. Steps of other agents are left to other workers.
    pub fn by_agent(executors: impl IntoIterator<Item = (String, Executor)>) -> Self {
        Self {
            by_agent: Arc::new(executors.into_iter().collect()),
            other: None,
        }
    }

    /// Sets who watches what they do, as [`Executor::with_sink`]. Default is nobody.
    #[must_use]
    pub fn with_sink(self, sink: &Arc<dyn EventSink>) -> Self {
        self.each(|executor| executor.clone().with_sink(Arc::clone(sink)))
    }

    fn each(&self, changed: impl Fn(&Executor) -> Executor) -> Self {
        let executors = self.by_agent.iter();
        let by_agent = executors.map(|(name, executor)| (name.clone(), changed(executor)));
        Self {
            by_agent: Arc::new(by_agent.collect()),
            other: self.other.as_ref().map(&changed),
        }
    }

    /// Says to them where their runs are, as [`Executor::with_place`].
    #[must_use]
    pub fn with_place(self, place: &Place) -> Self {
        self.each(|executor| executor.clone().with_place(place.clone()))
    }

    /// Has the executors of these agents do what the agents may do, as [`Executor::granting`]. The workers of both
    /// engines do this with the agents that they have.
    #[must_use]
    pub fn granting(mut self, agents: &Agents) -> Self {
        let mut by_agent = BTreeMap::clone(&self.by_agent);
        for agent in agents.definitions() {
            if let Ok(executor) = self.of(&agent.name) {
                by_agent.insert(agent.name.clone(), executor.clone().granting(agent));
            }
        }
        self.by_agent = Arc::new(by_agent);
        self
    }

    /// Returns the executor that acts for the agent of this name.
    ///
    /// # Errors
    ///
    /// A failure of kind [`FailureKind::NoWorker`] if none does here, with the names of those agents that one acts for:
    /// another worker may have it.
    pub fn of(&self, agent: &str) -> Result<&Executor, StepFailure> {
        let found = self.by_agent.get(agent).or(self.other.as_ref());
        found.ok_or_else(|| {
            let known: Vec<&str> = self.by_agent.keys().map(String::as_str).collect();
            let known = match known.as_slice() {
                [] => "it serves none".to_owned(),
                known => format!("it serves {}", known.join(", ")),
            };
            let message = format!("this worker serves no agent {agent:?}: {known}");
            StepFailure::new(FailureKind::NoWorker, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_executor_acts_for_every_agent_and_others_for_the_agents_of_their_names() {
        let one = Executors::from(Executor::builder().build());
        assert!(one.of("anybody").is_ok());
        let named = ["b", "a"].map(|name| (name.to_owned(), Executor::builder().build()));
        let named = Executors::by_agent(named);
        assert!(named.of("a").is_ok());
        let failure = named.of("c").unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoWorker);
        assert!(failure.retryable);
        assert_eq!(
            failure.message,
            r#"this worker serves no agent "c": it serves a, b"#
        );
        let failure = Executors::by_agent([]).of("c").unwrap_err();
        assert!(failure.message.ends_with("it serves none"));
    }
}
