//! Which executor acts for which agent.

use std::{collections::BTreeMap, sync::Arc};

use neuron_types::{FailureKind, StepFailure};

use crate::{EventSink, Executor};

/// The executors of a worker: one for every agent, or one for each of those that it serves. Cheap to clone.
///
/// An executor acts for the agent of its name, whatever definition a run of that agent carries. What a run may ask
/// for is in its definition, and the loop refuses the rest; what is done about it is the worker's: a tool that the
/// executor lacks comes to a result that says so.
#[derive(Debug, Clone)]
pub struct Executors(Kind);

#[derive(Debug, Clone)]
enum Kind {
    One(Executor),
    ByAgent(Arc<BTreeMap<String, Executor>>),
}

/// One executor for every agent.
impl From<Executor> for Executors {
    fn from(executor: Executor) -> Self {
        Self(Kind::One(executor))
    }
}

impl Executors {
    /// An executor for each of these agents, by name. Steps of other agents fail.
    pub fn by_agent(executors: impl IntoIterator<Item = (String, Executor)>) -> Self {
        Self(Kind::ByAgent(Arc::new(executors.into_iter().collect())))
    }

    /// Sets who watches what they do, as [`Executor::with_sink`]. Default is nobody.
    #[must_use]
    pub fn with_sink(self, sink: &Arc<dyn EventSink>) -> Self {
        let watched = |executor: &Executor| executor.clone().with_sink(Arc::clone(sink));
        Self(match self.0 {
            Kind::One(executor) => Kind::One(watched(&executor)),
            Kind::ByAgent(executors) => {
                let executors = executors.iter();
                let watched = executors.map(|(name, executor)| (name.clone(), watched(executor)));
                Kind::ByAgent(Arc::new(watched.collect()))
            }
        })
    }

    /// Returns the executor that acts for the agent of this name.
    ///
    /// # Errors
    ///
    /// `invalid_request` if none does, with the names of those agents that one acts for. The step fails with it.
    pub fn of(&self, agent: &str) -> Result<&Executor, StepFailure> {
        let executors = match &self.0 {
            Kind::One(executor) => return Ok(executor),
            Kind::ByAgent(executors) => executors,
        };
        executors.get(agent).ok_or_else(|| {
            let known: Vec<&str> = executors.keys().map(String::as_str).collect();
            let known = match known.as_slice() {
                [] => "it serves none".to_owned(),
                known => format!("start the run with one of {}", known.join(", ")),
            };
            let message = format!("this worker serves no agent {agent:?}: {known}");
            StepFailure::new(FailureKind::InvalidRequest, message)
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
        assert_eq!(failure.kind, FailureKind::InvalidRequest);
        assert!(!failure.retryable);
        assert_eq!(
            failure.message,
            r#"this worker serves no agent "c": start the run with one of a, b"#
        );
        let failure = Executors::by_agent([]).of("c").unwrap_err();
        assert!(failure.message.ends_with("it serves none"));
    }
}
