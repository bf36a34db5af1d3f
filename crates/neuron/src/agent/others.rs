//! The entries of a builder for the agents that an agent starts, and for those that it hands its runs over to.

use std::sync::Arc;

use neuron_types::{AgentSpec, HandedConversation, Handoff, LimitOverrides, SubAgent};

use super::{Agent, AgentError, AnyAgent, Parts, parts::named_twice};

/// An agent that another one starts: see [`AgentBuilder::subagents`](crate::AgentBuilder::subagents).
#[derive(Debug, Clone)]
#[must_use]
pub struct SubAgentEntry {
    parts: Arc<Parts>,
    background: bool,
    limits: LimitOverrides,
}

impl SubAgentEntry {
    /// Returns an entry for this agent, whose call returns the agent's answer.
    pub fn new(agent: &dyn AnyAgent) -> Self {
        Self {
            parts: Arc::clone(agent.parts()),
            background: false,
            limits: LimitOverrides::default(),
        }
    }

    /// Sets whether the call returns at once, and the answer arrives later as a message. Default is `false`.
    pub fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Sets lower limits for the runs that are started by this entry. Default is the agent's limits.
    pub fn limits(mut self, limits: LimitOverrides) -> Self {
        self.limits = limits;
        self
    }
}

impl<I: ?Sized, O> From<&Agent<I, O>> for SubAgentEntry {
    fn from(agent: &Agent<I, O>) -> Self {
        Self::new(agent)
    }
}

/// An agent that takes over runs of another one: see [`AgentBuilder::handoffs`](crate::AgentBuilder::handoffs).
#[derive(Debug, Clone)]
#[must_use]
pub struct HandoffEntry {
    parts: Arc<Parts>,
    conversation: HandedConversation,
}

impl HandoffEntry {
    /// Returns an entry for this agent, which sees the whole conversation.
    pub fn new(agent: &dyn AnyAgent) -> Self {
        Self {
            parts: Arc::clone(agent.parts()),
            conversation: HandedConversation::default(),
        }
    }

    /// Sets what the agent sees of the conversation. Default is the whole conversation.
    pub fn conversation(mut self, conversation: HandedConversation) -> Self {
        self.conversation = conversation;
        self
    }
}

impl<I: ?Sized, O> From<&Agent<I, O>> for HandoffEntry {
    fn from(agent: &Agent<I, O>) -> Self {
        Self::new(agent)
    }
}

/// The other agents of a builder.
#[derive(Debug, Default)]
pub(crate) struct Others {
    pub(crate) subagents: Vec<SubAgentEntry>,
    pub(crate) handoffs: Vec<HandoffEntry>,
    /// The agents that the definition names already.
    pub(crate) known: Vec<Arc<Parts>>,
}

impl Others {
    /// Adds what this agent's model reads about the others to the agent's definition, which has the agent's own tools
    /// already, and returns the others.
    ///
    /// # Errors
    ///
    /// [`AgentError`]: an agent is listed twice or is a workflow, two have the same name, or the agent has a tool of
    /// that name.
    pub(crate) fn settle(self, spec: &mut AgentSpec) -> Result<Vec<Arc<Parts>>, AgentError> {
        let all = self.subagents.iter().map(|entry| &entry.parts);
        let all: Vec<_> = all
            .chain(self.handoffs.iter().map(|entry| &entry.parts))
            .chain(&self.known)
            .cloned()
            .collect();
        check_names(&spec.name, &all)?;
        let told = spec.subagents.iter().map(SubAgent::definition);
        let told: Vec<_> = told
            .chain(spec.handoffs.iter().map(Handoff::definition))
            .collect();
        for tool in told {
            add_tool(spec, tool)?;
        }
        for SubAgentEntry {
            parts,
            background,
            limits,
        } in self.subagents
        {
            let subagent = SubAgent {
                description: parts.description.clone().unwrap_or_default(),
                input: parts.spec.input.clone(),
                background,
                limits,
                pools: parts.spec.pools.keys().cloned().collect(),
                ..SubAgent::new(&parts.spec.name)
            };
            share_pools(spec, &parts.spec);
            add_tool(spec, subagent.definition())?;
            spec.subagents.push(subagent);
        }
        for HandoffEntry {
            parts,
            conversation,
        } in self.handoffs
        {
            let handoff = Handoff {
                description: parts.description.clone().unwrap_or_default(),
                conversation,
                ..Handoff::new(&parts.spec.name)
            };
            share_pools(spec, &parts.spec);
            add_tool(spec, handoff.definition())?;
            spec.handoffs.push(handoff);
        }
        Ok(all)
    }
}

/// Gives an agent those pools of another agent that its trees may use.
fn share_pools(agent: &mut AgentSpec, other: &AgentSpec) {
    for (pool, allowance) in &other.pools {
        let known = agent.pools.entry(pool.clone()).or_default();
        *known = known.and(*allowance);
    }
}

/// Checks that the agents which can be reached from one have different names: on every engine the name identifies the
/// agent of a run.
pub(crate) fn check_names(agent: &str, others: &[Arc<Parts>]) -> Result<(), AgentError> {
    let all = || others.iter().flat_map(|other| other.with_reached());
    if let Some(workflow) = all().find(|other| other.serving.is_some()) {
        return Err(AgentError::StartsWorkflow {
            agent: agent.to_owned(),
            workflow: workflow.spec.name.clone(),
        });
    }
    let mut names = all().map(|other| other.spec.name.as_str());
    let is_own = |name: &&str| *name == agent;
    match names.find(is_own).or_else(|| named_twice(all())) {
        None => Ok(()),
        Some(twice) => Err(AgentError::OthersOfOneName {
            agent: agent.to_owned(),
            twice: twice.to_owned(),
        }),
    }
}

/// Adds the tool for another agent.
fn add_tool(spec: &mut AgentSpec, tool: neuron_types::ToolDefinition) -> Result<(), AgentError> {
    let tools = &mut spec.head_mut().tools;
    if tools.iter().any(|own| own.name == tool.name) {
        return Err(AgentError::ToolTwice {
            agent: spec.name.clone(),
            tool: tool.name,
        });
    }
    tools.push(tool);
    Ok(())
}
