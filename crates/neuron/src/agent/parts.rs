//! The parts of an agent that engines need.

use std::{any::Any, collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use neuron_executor::{Agents, Executor, Executors};
use neuron_types::{ASK_PERSON, AgentSpec, Message, OnHalt, OnUnknownOutcome};
use neuron_workflows::{child_agent, to_text};
use serde::Serialize;

use super::{AgentError, serving::Serving};
use crate::run::RunFailure;

/// An agent without its types: its definition, which is stored in runs, and its executor, which stays here.
#[derive(Clone)]
pub struct Parts {
    /// The agent's definition.
    pub spec: AgentSpec,
    /// The executor of the agent's steps.
    pub executor: Executor,
    /// How each engine runs the agent, if it is a workflow of the program.
    pub(crate) serving: Option<Serving>,
    /// The description for the agents that start it or hand runs over to it.
    pub(crate) description: Option<String>,
    /// The agents that it starts or hands its runs over to.
    pub(crate) others: Vec<Arc<Self>>,
    /// The agent file that contains the agent, if one does.
    pub(crate) file: Option<PathBuf>,
    /// The values that have to live as long as the executor, especially MCP servers.
    pub(crate) alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Parts {
    /// Returns the definitions and executors for a worker of these agents. The agents that they start or hand over to
    /// are among them, and those of a workflow, for the runs that the workflow starts: by the names that
    /// [`child_agent`] makes.
    ///
    /// # Errors
    ///
    /// [`AgentError::ServedTwice`].
    pub fn served(agents: &[Arc<Self>]) -> Result<(Agents, Executors), AgentError> {
        let all = agents.iter().flat_map(|agent| agent.with_reached());
        if let Some(twice) = named_twice(all) {
            let twice = twice.to_owned();
            return Err(AgentError::ServedTwice { twice });
        }
        let of = |agent: &Self| (agent.spec.clone(), agent.executor.clone());
        let reached = agents.iter().flat_map(|agent| agent.reached());
        let reached = reached.map(|agent| of(agent));
        let below = agents.iter().flat_map(|agent| agent.below());
        // If two agents have the same name, the one in the list applies.
        let own = agents.iter().map(|agent| of(agent));
        Ok(named(reached.chain(below).chain(own)))
    }

    /// Returns the same for the runs below one of this agent, each executor with its definition; `None` if the agent
    /// neither starts runs nor hands them over.
    pub(crate) fn served_below(&self) -> Option<(Agents, Executors)> {
        let starts_others = !self.spec.subagents.is_empty() || !self.spec.handoffs.is_empty();
        if self.spec.team.is_none() && !starts_others {
            return None;
        }
        let with_definition = |(spec, executor): (AgentSpec, Executor)| {
            let executor = executor.with_definitions([spec.clone()]);
            (spec, executor)
        };
        let reached = self.reached().into_iter();
        let reached = reached.map(|agent| (agent.spec.clone(), agent.executor.clone()));
        // Runs below the agent may start it, too.
        let own = self
            .spec
            .team
            .is_none()
            .then(|| (self.spec.clone(), self.executor.clone()));
        let all = self.below().chain(reached).chain(own);
        Some(named(all.map(with_definition)))
    }

    /// Returns the agents that its runs may reach, at any level: those that it starts or hands over to, and theirs.
    pub(crate) fn reached(&self) -> Vec<&Arc<Self>> {
        let mut found: Vec<&Arc<Self>> = Vec::new();
        let mut open: Vec<_> = self.others.iter().collect();
        while let Some(agent) = open.pop() {
            if found.iter().all(|known| !Arc::ptr_eq(known, agent)) {
                found.push(agent);
                open.extend(&agent.others);
            }
        }
        found
    }

    /// Returns whether it is the same agent: the same value, or the same agent of the same file.
    pub(crate) fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let is_of_file = self.file.is_some() && self.file == other.file;
        Arc::ptr_eq(self, other) || is_of_file && self.spec == other.spec
    }

    /// Returns the same, with this agent before them.
    pub(crate) fn with_reached(self: &Arc<Self>) -> Vec<&Arc<Self>> {
        let reached = self.reached().into_iter();
        [self].into_iter().chain(reached).collect()
    }

    /// Returns the executor of the steps of its runs, also after they are handed over.
    pub(crate) fn acting(&self) -> Executor {
        match self.served_below() {
            Some((_, executors)) if self.serving.is_none() => {
                self.executor.clone().beside(executors)
            }
            _ => self.executor.clone(),
        }
    }

    /// Returns the agents of this workflow in the form in which its runs start runs of them.
    fn below(&self) -> impl Iterator<Item = (AgentSpec, Executor)> + '_ {
        self.spec.team.iter().flatten().filter_map(|member| {
            let executor = self.executor.of_member(&member.name).ok()?;
            let spec = AgentSpec {
                name: child_agent(&self.spec.name, &member.name),
                // A workflow may send them any input.
                input: None,
                ..member.clone()
            };
            Some((spec, executor))
        })
    }

    /// Returns the workflow of its runs in a journal.
    #[cfg(feature = "local")]
    pub(crate) fn journal_workflow(&self) -> neuron_local::LocalWorkflow {
        match self.serving {
            Some(serving) => serving.journal,
            None => |door, start| Box::pin(neuron_workflows::agent(door, start)),
        }
    }

    /// Returns the patches that the agent's workflow declares, if it is one.
    pub(crate) fn patches(&self) -> &'static [&'static str] {
        self.serving.map_or(&[], |serving| serving.patches)
    }

    /// Returns whether a run of the agent, or below it, may wait for a person without end.
    pub(crate) fn may_wait_for_a_person(&self) -> bool {
        let team = self.spec.team.iter().flatten();
        let reached = self.reached();
        let reached = reached.iter().map(|agent| &agent.spec);
        let mut all = team.chain([&self.spec]).chain(reached);
        all.any(may_wait_for_a_person)
    }
}

/// Returns the name that two different agents of these have, if two have the same.
pub(crate) fn named_twice<'a>(agents: impl Iterator<Item = &'a Arc<Parts>>) -> Option<&'a str> {
    let mut known: BTreeMap<&str, &Arc<Parts>> = BTreeMap::new();
    for agent in agents {
        let name = agent.spec.name.as_str();
        let before = known.insert(name, agent);
        if before.is_some_and(|before| !before.is_same(agent)) {
            return Some(name);
        }
    }
    None
}

/// Returns these agents by their names.
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

/// An agent of any types, for lists of several.
pub trait AnyAgent: Send + Sync {
    /// Returns the parts of the agent that an engine needs.
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

/// Returns the prompt for an input: a text as it is, anything else as JSON.
pub(crate) fn prompt<I: Serialize + ?Sized>(input: &I) -> Result<Message, RunFailure> {
    let text = to_text(input).map_err(|source| RunFailure::Input {
        source: source.into(),
    })?;
    Ok(Message::user(text))
}
