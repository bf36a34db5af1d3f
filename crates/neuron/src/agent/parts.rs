//! What engines need of an agent.

use std::{any::Any, fmt, sync::Arc};

use neuron_executor::{Agents, Executor, Executors};
use neuron_types::{ASK_PERSON, AgentSpec, Message, OnHalt, OnUnknownOutcome};
use neuron_workflows::to_text;
use serde::Serialize;

use super::serving::Serving;
use crate::run::RunFailure;

/// An agent without its types: its definition, which goes into runs, and its executor, which stays here.
#[derive(Clone)]
pub struct Parts {
    /// What it is.
    pub spec: AgentSpec,
    /// What acts for it.
    pub executor: Executor,
    /// How each engine runs it, if it is a workflow of one's own.
    pub(crate) serving: Option<Serving>,
    /// What has to live as long as the executor, MCP servers above all.
    pub(crate) alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Parts {
    /// Returns what a worker of these agents has: their definitions, and what acts for them.
    #[must_use]
    pub fn served(agents: &[Arc<Self>]) -> (Agents, Executors) {
        let definitions = agents.iter().map(|agent| agent.spec.clone());
        let executors = agents
            .iter()
            .map(|agent| (agent.spec.name.clone(), agent.executor.clone()));
        (definitions.collect(), Executors::by_agent(executors))
    }

    /// Whether a run of it may wait for a person for ever.
    pub(crate) fn may_wait_for_a_person(&self) -> bool {
        let team = self.spec.team.iter().flatten();
        team.chain([&self.spec]).any(may_wait_for_a_person)
    }
}

fn may_wait_for_a_person(spec: &AgentSpec) -> bool {
    let asks = !spec.approvals.approve.is_empty()
        || spec.on_unknown_outcome == OnUnknownOutcome::AskPerson
        || spec.on_failure == OnHalt::Ask
        || spec.on_limit == OnHalt::Ask
        || spec
            .head
            .tools
            .iter()
            .any(|tool| tool.deferred || tool.name == ASK_PERSON);
    asks && spec.approval_timeout.is_none()
}

/// An agent whatever its types, for lists of several.
pub trait AnyAgent: Send + Sync {
    /// Returns what an engine needs of it.
    fn parts(&self) -> &Arc<Parts>;
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("spec", &self.spec)
            .field("executor", &self.executor)
            .field("is_from_file", &self.alive.is_some())
            .finish()
    }
}

/// Returns the prompt that states an input: a text as it is, anything else as JSON.
pub(crate) fn prompt<I: Serialize + ?Sized>(input: &I) -> Result<Message, RunFailure> {
    let text = to_text(input).map_err(|source| RunFailure::Input {
        source: source.into(),
    })?;
    Ok(Message::user(text))
}
