//! The options with which an agent file is opened.

use std::{fmt, fs, path::PathBuf, sync::Arc};

use neuron_mcp::{McpClientHandler, McpNotice, McpNotices};
use neuron_sandbox::Protected;
use neuron_types::AgentSpec;

use crate::agent_file::{
    environment::{Environment, ProcessEnvironment, set},
    open::limiters::Limiters,
};

/// The options with which an agent file is opened: where its agents work, where variables come from, who answers the
/// questions of MCP servers, and which agents are opened.
///
/// Everything that is opened with clones of the same options shares the `requests_per_minute` and `tokens_per_minute`
/// of a provider: the requests for one key are counted once.
#[derive(Clone)]
#[must_use]
pub struct OpenOptions {
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Arc<dyn Environment + Send + Sync>,
    pub(crate) person: Option<Arc<dyn McpClientHandler>>,
    pub(crate) wanted: Wanted,
    /// The agents that the opened definition may be handed over to.
    pub(crate) handed_to: Vec<String>,
    /// The limiters of everything that is opened with clones of these options.
    pub(crate) limiters: Limiters,
    pub(crate) protected: Protected,
    pub(crate) notices: Option<McpNotices>,
    /// Whether agents whose servers do not start stay closed, and the others are opened.
    pub(crate) skips_servers: bool,
    pub(crate) every_provider: bool,
    /// The agent file that is opened, by its real path.
    pub(crate) file: Option<PathBuf>,
}

/// The selection of what is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All agents of the file.
    All,
    /// The agents of these names.
    Agents(Vec<String>),
    /// Everything that a definition with these tools needs.
    Tools(Vec<String>),
    /// The same, and everything that the agent of this name needs, if the file has it.
    ToolsAnd(Vec<String>, String),
}

impl OpenOptions {
    /// Returns options for all agents of a file. Their tools and MCP servers work in `cwd`.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            environment: Arc::new(ProcessEnvironment),
            person: None,
            wanted: Wanted::All,
            handed_to: Vec::new(),
            limiters: Limiters::default(),
            protected: Protected::default(),
            notices: None,
            skips_servers: false,
            every_provider: false,
            file: None,
        }
    }

    /// Sets another directory for tools and MCP servers to work in. What is opened with the result shares the limits of
    /// providers with what is opened with clones of these options.
    pub fn in_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// Sets where variables come from. Default is [`ProcessEnvironment`].
    pub fn environment(mut self, environment: impl Environment + Send + Sync + 'static) -> Self {
        self.environment = Arc::new(environment);
        self
    }

    /// Sets who answers questions of MCP servers with `elicitation = true` for the person. Without one, the person
    /// declines.
    pub fn person(mut self, person: Arc<dyn McpClientHandler>) -> Self {
        self.person = Some(person);
        self
    }

    /// Sets who is notified of MCP servers that are slow to start, and of those that are left out. Default is the log.
    pub fn mcp_notices(mut self, notify: impl Fn(&McpNotice<'_>) + Send + Sync + 'static) -> Self {
        self.notices = Some(Arc::new(notify));
        self
    }

    /// Opens the other agents if an MCP server that some agents need does not start, as a worker does: see
    /// [`OpenAgents::closed`](crate::OpenAgents::closed). Default is to open none then.
    pub fn skipping_closed(mut self) -> Self {
        self.skips_servers = true;
        self
    }

    /// Gives executors every provider of the file that can be used here, even if not all agents are opened: a run of an
    /// agent may have begun with another model. Default is the agent's own providers.
    pub fn every_provider(mut self) -> Self {
        self.every_provider = true;
        self
    }

    /// Sets the paths that tools leave alone, besides those that are always protected: the agent file with everything
    /// that is part of it, `NEURON_HOME`, and files on the command lines of its MCP servers. Default is nothing.
    pub fn protected(mut self, protected: Protected) -> Self {
        self.protected = protected;
        self
    }

    /// Sets the agent file that is opened: the first of its files, if there is one. All of them and the journal are
    /// protected.
    pub(crate) fn of_file(mut self, files: &[PathBuf]) -> Self {
        let own = files.first();
        self.file = own.map(|file| fs::canonicalize(file).unwrap_or_else(|_| file.clone()));
        let files = files.iter().cloned();
        self.protected = files.fold(self.protected, Protected::read_only);
        if let Some(home) = set(&*self.environment, "NEURON_HOME") {
            self.protected = self.protected.hidden(home);
        }
        self
    }

    /// Opens only the agents of these names, and those that their runs may be handed over to. Default is all.
    pub fn agents(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.wanted = Wanted::Agents(names.into_iter().map(Into::into).collect());
        self
    }

    /// Opens what a run of this definition needs. The definition may be from an earlier version of the file: a run
    /// keeps its definition.
    pub fn definition(mut self, agent: &AgentSpec) -> Self {
        let tools = agent.head.tools.iter();
        self.wanted = Wanted::Tools(tools.map(|tool| tool.name.clone()).collect());
        self.handing_over(agent)
    }

    /// Does the same as [`definition`](Self::definition), for a run that adopts the file's current definition, or has
    /// adopted it.
    pub fn adopted_definition(mut self, agent: &AgentSpec) -> Self {
        let tools = agent.head.tools.iter();
        let tools = tools.map(|tool| tool.name.clone()).collect();
        self.wanted = Wanted::ToolsAnd(tools, agent.name.clone());
        self.handing_over(agent)
    }

    fn handing_over(mut self, agent: &AgentSpec) -> Self {
        let handoffs = agent.handoffs.iter();
        self.handed_to = handoffs.map(|handoff| handoff.name.clone()).collect();
        self
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions")
            .field("cwd", &self.cwd)
            .field("person", &self.person.is_some())
            .field("wanted", &self.wanted)
            .field("skips_servers", &self.skips_servers)
            .field("notices", &self.notices.is_some())
            .finish_non_exhaustive()
    }
}
