//! What engines need of an agent.

use std::{any::Any, collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use neuron_executor::{Agents, Executor, Executors};
use neuron_local::LocalWorkflow;
use neuron_types::{ASK_PERSON, AgentSpec, Message, OnHalt, OnUnknownOutcome};
use neuron_workflows::{child_agent, to_text};
use serde::Serialize;

use super::{AgentError, serving::Serving};
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
    /// What it is for, as those read who start it or hand over to it.
    pub(crate) description: Option<String>,
    /// The agents that it starts or hands its runs over to.
    pub(crate) others: Vec<Arc<Self>>,
    /// The agent file that has it, if one has.
    pub(crate) file: Option<PathBuf>,
    /// What has to live as long as the executor, MCP servers above all.
    pub(crate) alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Parts {
    /// Returns what a worker of these agents has: their definitions, and what acts for them. Those that they start or hand
    /// over to are among them, and those of a workflow, for the runs of theirs that it starts: by the names that
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
        // Of two of one name that of the list counts.
        let own = agents.iter().map(|agent| of(agent));
        Ok(named(reached.chain(below).chain(own)))
    }

    /// The same for the runs below one of this agent, each executor with its definition; `None` if it starts none and hands
    /// over to none.
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
        // Runs below it may start it, too.
        let own = self
            .spec
            .team
            .is_none()
            .then(|| (self.spec.clone(), self.executor.clone()));
        let all = self.below().chain(reached).chain(own);
        Some(named(all.map(with_definition)))
    }

    /// Returns the agents that its runs may come to, at any level: those that it starts or hands over to, and theirs.
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

    /// Whether it is the same agent: the same value, or the same agent of the same file.
    pub(crate) fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        let is_of_file = self.file.is_some() && self.file == other.file;
        Arc::ptr_eq(self, other) || is_of_file && self.spec == other.spec
    }

    /// The same, and the agent before them.
    pub(crate) fn with_reached(self: &Arc<Self>) -> Vec<&Arc<Self>> {
        let reached = self.reached().into_iter();
        [self].into_iter().chain(reached).collect()
    }

    /// Returns what makes the steps of its runs, also after they are handed over.
    pub(crate) fn acting(&self) -> Executor {
        match self.served_below() {
            Some((_, executors)) if self.serving.is_none() => {
                self.executor.clone().beside(executors)
            }
            _ => self.executor.clone(),
        }
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

    /// Returns how its runs go in a journal.
    pub(crate) fn journal_workflow(&self) -> LocalWorkflow {
        match self.serving {
            Some(serving) => serving.journal,
            None => |door, start| Box::pin(neuron_workflows::agent(door, start)),
        }
    }

    /// Whether a run of it, or below it, may wait for a person for ever.
    pub(crate) fn may_wait_for_a_person(&self) -> bool {
        let team = self.spec.team.iter().flatten();
        let reached = self.reached();
        let reached = reached.iter().map(|agent| &agent.spec);
        let mut all = team.chain([&self.spec]).chain(reached);
        all.any(may_wait_for_a_person)
    }
}

/// The name that two of these agents have which are not the same, if two have.
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
