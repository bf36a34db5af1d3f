//! Agents that can be run.

use std::{collections::BTreeMap, fmt, pin::Pin, sync::Arc};

use neuron_approvers::Approvers;
use neuron_executor::Executor;
use neuron_sandbox::Sandbox;
use neuron_tool::{builtin::Bash, check_sandbox};
use neuron_types::AgentSpec;

use crate::agent_file::{
    definitions::Definitions,
    error::AgentFileError,
    open::options::OpenOptions,
    tables::{agents::Agent, tools},
};

pub(crate) mod connect;
pub(crate) mod limiters;
pub(crate) mod mcp;
pub(crate) mod mcp_answers;
#[cfg(not(feature = "mcp"))]
mod no_servers;
pub(crate) mod options;
mod programs;
pub(crate) mod provider;
#[cfg(feature = "mcp")]
mod servers;

#[cfg(not(feature = "mcp"))]
pub(crate) use no_servers::Servers;
#[cfg(feature = "mcp")]
pub(crate) use servers::Servers;

/// The open agents of a file with the MCP servers that they use, which were started for them. Cheap to clone; clones
/// share the servers.
///
/// The tools of an agent do not change during the lifetime of this value, whatever the servers do: a run carries the
/// tools that its agent had at the run's start. [`OpenAgents::stop`] ends the servers; dropping the last clone ends
/// them in the background.
#[derive(Clone)]
pub struct OpenAgents {
    inner: Arc<Inner>,
}

struct Inner {
    /// The definitions with the tools of the servers.
    definitions: Definitions,
    servers: Servers,
    options: OpenOptions,
}

impl OpenAgents {
    /// Opens the agents. The future is boxed, so that it is compiled here once, and not in every program that opens an
    /// agent file.
    pub(crate) fn open(
        mut definitions: Definitions,
        options: OpenOptions,
    ) -> Pin<Box<dyn Future<Output = Result<Self, AgentFileError>> + Send>> {
        Box::pin(async move {
            let servers = mcp::start(&mut definitions, &options).await?;
            Ok(Self {
                inner: Arc::new(Inner {
                    definitions,
                    servers,
                    options,
                }),
            })
        })
    }

    /// Returns the names of the agents that are open, sorted: those whose MCP servers were started.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let agents = self.inner.definitions.agents.iter();
        let open = agents.filter(|(_, agent)| self.missing(agent).is_none());
        open.map(|(name, _)| name.as_str())
    }

    /// Returns an agent as a run of it carries it.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownAgent`], which lists the names of the existing agents, and
    /// [`AgentFileError::McpNotStarted`] for an agent that is not open.
    pub fn agent(&self, name: &str) -> Result<AgentSpec, AgentFileError> {
        let agent = self.inner.definitions.agent(name)?;
        match self.missing(agent) {
            None => Ok(agent.spec.clone()),
            Some(server) => Err(AgentFileError::McpNotStarted {
                agent: name.to_owned(),
                server: server.clone(),
            }),
        }
    }

    /// Builds the executor of an agent. The definition may be from an earlier version of the file, as a run keeps its
    /// definition. If all agents of the file are open, the executor has every provider of the file that can be used
    /// here: a run of the agent may have begun with another model. The executor also has the executors
    /// [beside](Executor::beside) it of the agents that its runs may be handed over to.
    ///
    /// # Errors
    ///
    /// A provider or tool of the definition does not exist any more, its key is not set, its script cannot be read, or
    /// an MCP server of one of its tools was not started.
    pub fn executor(&self, agent: &AgentSpec) -> Result<Executor, AgentFileError> {
        let Inner {
            definitions,
            servers,
            options,
        } = &*self.inner;
        let executor = connect::executor(definitions, Some(servers), agent, options)?;
        let current = definitions.agents.get(&agent.name);
        let current = current.into_iter().flat_map(|known| &known.spec.handoffs);
        let handoffs = agent.handoffs.iter().chain(current);
        let handed_to = handoffs.map(|handoff| handoff.name.as_str());
        let mut others = BTreeMap::new();
        for (name, other) in definitions.reached_from(handed_to) {
            if name != agent.name && self.missing(other).is_none() {
                let other = connect::executor(definitions, Some(servers), &other.spec, options)?;
                others.insert(name.to_owned(), other);
            }
        }
        Ok(match others.is_empty() {
            true => executor,
            false => executor.beside(others),
        })
    }

    /// Returns what the commands of each agent with `bash` may reach here, `workspace (bubblewrap)` or `off`, in the
    /// order of the agents' names.
    pub fn sandboxes(&self) -> impl Iterator<Item = (&str, String)> {
        let agents = self.inner.definitions.agents.iter();
        let open = agents.filter(|(_, agent)| self.missing(agent).is_none());
        open.filter(|(_, agent)| has_bash(agent))
            .map(|(name, agent)| {
                let options = tools::options(&agent.spec, &agent.workplace);
                let text = check_sandbox(&options).unwrap_or_else(|error| error.to_string());
                (name.as_str(), text)
            })
    }

    /// Returns whether the demo model answers for this agent.
    #[must_use]
    pub fn is_demo(&self, agent: &AgentSpec) -> bool {
        self.inner.definitions.is_demo(agent)
    }

    /// Returns the approvers who may sign decisions: see [`AgentFile::approvers`](crate::AgentFile::approvers).
    #[must_use]
    pub fn approvers(&self) -> &Approvers {
        &self.inner.definitions.approvers
    }

    /// Returns the agents, sorted by name, that signatures do not bind although the file has approvers: the programs
    /// that they start run unconfined as the user of this process, and could use a key or an `ssh-agent` of that user.
    pub fn unbound_agents(&self) -> impl Iterator<Item = &str> {
        let has_approvers = !self.approvers().is_empty();
        let Definitions { agents, mcp, .. } = &self.inner.definitions;
        let starts_unconfined = move |agent: &Agent| {
            let mut servers = agent.mcp.iter().filter_map(|name| mcp.get(name));
            let commands = has_bash(agent) && agent.workplace.sandbox.is_off();
            commands || servers.any(|server| server.sandbox.as_ref().is_some_and(Sandbox::is_off))
        };
        agents
            .iter()
            .filter(move |(_, agent)| has_approvers && starts_unconfined(agent))
            .map(|(name, _)| name.as_str())
    }

    /// Stops the MCP servers. Servers that were started here have ended when this returns, and calls of their tools
    /// fail.
    pub async fn stop(&self) {
        self.inner.servers.stop().await;
    }

    /// Returns the agents that were to be opened and are not open, sorted by name, each with the reason: an MCP server
    /// that the agent needs did not start. Always empty without
    /// [`OpenOptions::skipping_closed`](crate::OpenOptions::skipping_closed).
    pub fn closed(&self) -> impl Iterator<Item = (&str, String)> {
        let agents = self.inner.definitions.agents.iter();
        agents.filter_map(|(name, agent)| {
            let server = self.missing(agent)?;
            Some((name.as_str(), self.inner.servers.why(server)?))
        })
    }

    /// Returns a server of the agent that is not running.
    fn missing<'a>(&self, agent: &'a Agent) -> Option<&'a String> {
        let Inner {
            definitions,
            servers,
            ..
        } = &*self.inner;
        mcp::missing(&definitions.mcp, servers, agent)
    }
}

fn has_bash(agent: &Agent) -> bool {
    let mut tools = agent.spec.head.tools.iter();
    tools.any(|tool| tool.name == Bash::NAME)
}

impl fmt::Debug for OpenAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAgents")
            .field("names", &self.names().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
