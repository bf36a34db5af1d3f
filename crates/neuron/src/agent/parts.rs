//! What engines need of an agent.

use std::{any::Any, fmt, sync::Arc};

use neuron_executor::{Agents, Executor, Executors};
use neuron_types::{ASK_PERSON, AgentSpec, Message, OnHalt, OnUnknownOutcome};
use neuron_workflows::{child_agent, to_text};
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
    /// Returns what a worker of these agents has: their definitions, and what acts for them. Those of a workflow are among
    /// them, too, for the runs of theirs that it starts: by the names that [`child_agent`] makes.
    #[must_use]
    pub fn served(agents: &[Arc<Self>]) -> (Agents, Executors) {
        let own = agents.iter();
        let own = own.map(|agent| (agent.spec.clone(), agent.executor.clone()));
        let below = agents.iter().flat_map(|agent| agent.below());
        named(own.chain(below))
    }

    /// The same for the runs below one of this workflow; `None` if it is none.
    pub(crate) fn served_below(&self) -> Option<(Agents, Executors)> {
        self.spec.team.as_ref()?;
        let with_definition = |(spec, executor): (AgentSpec, Executor)| {
            let executor = executor.with_definitions([spec.clone()]);
            (spec, executor)
        };
        Some(named(self.below().map(with_definition)))
    }

    /// The agents of this workflow, as its runs start runs of them.
    fn below(&self) -> impl Iterator<Item = (AgentSpec, Executor)> + '_ {
        self.spec.team.iter().flatten().filter_map(|member| {
            let executor = self.executor.of_member(&member.name).ok()?;
            let spec = AgentSpec {
                name: child_agent(&self.spec.name, &member.name),
                // A workflow asks them whatever it likes.
                input: None,
                ..member.clone()
            };
            Some((spec, executor))
        })
    }

    /// Whether a run of it may wait for a person for ever.
    pub(crate) fn may_wait_for_a_person(&self) -> bool {
        let team = self.spec.team.iter().flatten();
        team.chain([&self.spec]).any(may_wait_for_a_person)
    }
}

/// These agents by their names.
fn named(agents: impl Iterator<Item = (AgentSpec, Executor)>) -> (Agents, Executors) {
    let (definitions, executors): (Vec<_>, Vec<_>) = agents
        .map(|(spec, executor)| {
            let name = spec.name.clone();
            (spec, (name, executor))
        })
        .unzip();
    let agents = definitions.into_iter().collect();
    (agents, Executors::by_agent(executors))
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
