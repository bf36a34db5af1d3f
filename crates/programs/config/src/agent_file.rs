//! Agent files: `neuron.toml`, parsed and checked, and what there is without one.
//!
//! ```
//! use neuron_config::{AgentFile, OpenOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), neuron_config::AgentFileError> {
//! let text = r#"
//!     [agents.default]
//!     model = "demo/demo"
//!     tools = ["read_file", "bash"]
//!     ask = ["bash"]
//! "#;
//! let file = AgentFile::parse(text, "neuron.toml")?;
//! let agents = file.open(OpenOptions::new(".")).await?;
//! let agent = agents.agent("default")?;
//! assert_eq!(agent.head.tools.len(), 2);
//! let executor = agents.executor(&agent)?;
//! assert_eq!(executor.tools().names().count(), 2);
//! agents.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! Reading a file looks up no variable and no key, and no files but those that are part of it. [`AgentFile::open`] starts
//! the MCP servers, and [`OpenAgents::executor`] needs the keys of the providers that the agent uses.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use neuron_approvers::Approvers;
use neuron_mcp::{McpClientHandler, McpServerSpec};
use neuron_types::AgentSpec;

use self::{
    definitions::Definitions,
    open::{connect, mcp},
    sources::Sources,
};

mod address;
mod checkup;
mod definitions;
mod document;
mod environment;
mod error;
mod open;
mod providers;
mod sources;
mod tables;
mod text;
mod wanted;
mod wants;

pub use checkup::ProviderCheckup;
pub use definitions::DEFAULT_AGENT;
pub use environment::{Environment, ProcessEnvironment};
pub use error::AgentFileError;
pub use open::{OpenAgents, options::OpenOptions};
pub use text::problem::Problem;
pub use wants::{WantedAddress, WantedKey, WantedProgram, Wants};

/// The name of the agent file in a directory.
pub const AGENT_FILE: &str = "neuron.toml";

/// The agents of an agent file, with the providers, MCP servers and prices that they use.
///
/// What the keys mean is said in one place: the page *The agent file* of the book, `docs/src/agent-file.md`.
///
/// Two are equal if they define the same, however they say it.
#[derive(Debug, Clone)]
pub struct AgentFile {
    definitions: Definitions,
    /// None where there is no file.
    path: Option<PathBuf>,
    sources: Sources,
    /// Nobody named it.
    is_found: bool,
}

impl PartialEq for AgentFile {
    fn eq(&self, other: &Self) -> bool {
        self.definitions == other.definitions
    }
}

impl AgentFile {
    /// Reads and checks the file that is meant: the one that is named; else [`AGENT_FILE`] in the working directory, if
    /// it exists; else what there is without a file, see [`AgentFile::builtin`]. An empty name is none.
    ///
    /// A file that nobody named [was found](AgentFile::is_found), and is to be used only if somebody
    /// [trusts](crate::check_trust) it.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::NoFile`] where one is named that does not exist, and those of [`AgentFile::load`].
    pub fn find(
        named: Option<&Path>,
        environment: &dyn Environment,
    ) -> Result<Self, AgentFileError> {
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let path = match named {
            Some(path) => path,
            None if exists(Path::new(AGENT_FILE)) => Path::new(AGENT_FILE),
            None => return Ok(Self::builtin(environment)),
        };
        if !exists(path) {
            return Err(AgentFileError::NoFile {
                path: path.to_owned(),
            });
        }
        Ok(Self {
            is_found: named.is_none(),
            ..Self::load(path)?
        })
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::Read`], or what [`AgentFile::parse`] finds.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgentFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| AgentFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Checks the text of a file. `path` names it in errors, and the files that it names start from its directory:
    /// those that it includes and those that hold instructions are read.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::Invalid`] with everything that is wrong.
    pub fn parse(text: &str, path: impl Into<PathBuf>) -> Result<Self, AgentFileError> {
        let path = path.into();
        let (definitions, sources) = Definitions::parse(text, &path)?;
        Ok(Self {
            definitions,
            path: Some(path),
            sources,
            is_found: false,
        })
    }

    /// Returns what there is without a file: an agent `default` with the tools that change nothing and the first
    /// provider whose key is set, OpenAI before Anthropic; with no key the demo provider.
    #[must_use]
    pub fn builtin(environment: &dyn Environment) -> Self {
        Self {
            definitions: Definitions::builtin(environment),
            path: None,
            sources: Sources::default(),
            is_found: false,
        }
    }

    /// Whether nobody named the file: it was found in the working directory.
    #[must_use]
    pub const fn is_found(&self) -> bool {
        self.is_found
    }

    /// Returns where the file is; `None` where there is none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the SHA-256 of the file and of all that is part of it, as `sha256:…`: what it includes, and the texts that
    /// stand in files of their own. Empty where there is no file.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.sources.digest
    }

    /// Returns where a worker keeps the sessions of runs that name one: an SQLite database; `None` where it keeps none. What
    /// the file says starts from its folder.
    #[must_use]
    pub fn sessions(&self) -> Option<PathBuf> {
        let to = self.definitions.sessions.as_deref()?;
        let file = self.path.as_deref().unwrap_or(Path::new(""));
        Some(file.with_file_name("").join(to))
    }

    /// Returns what its agents do that nobody is asked about: see [`Wants`].
    #[must_use]
    pub fn wants(&self) -> Wants {
        wanted::of(&self.definitions, &self.sources)
    }

    /// Opens agents of the file: starts the MCP servers that they use, which may work in the directory and ask models
    /// and people where the file allows it, and gives the agents their tools.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownAgent`], [`AgentFileError::Mcp`] and [`AgentFileError::McpVariable`]. No server runs
    /// then.
    pub async fn open(self, options: OpenOptions) -> Result<OpenAgents, AgentFileError> {
        let options = options.of_file(&self.sources.files);
        OpenAgents::open(self.definitions, options).await
    }

    /// Returns all agents as the file defines them, in the order of their names: without the tools of their MCP
    /// servers, which are known when they are open.
    pub fn definitions(&self) -> impl Iterator<Item = &AgentSpec> {
        self.definitions.agents.values().map(|agent| &agent.spec)
    }

    /// Returns an agent as the file defines it: without the tools of its MCP servers.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownAgent`], which names the agents that there are.
    pub fn definition(&self, name: &str) -> Result<&AgentSpec, AgentFileError> {
        Ok(&self.definitions.agent(name)?.spec)
    }

    /// Finds out whether runs of an agent have what they need here: keys, scripts, providers, the programs of MCP servers and
    /// the variables that they get. No MCP server is started and nothing is sent.
    ///
    /// # Errors
    ///
    /// What [`OpenAgents::executor`] would fail with, [`AgentFileError::McpProgram`], [`AgentFileError::McpVariable`] and
    /// [`AgentFileError::UnknownAgent`].
    pub fn check(&self, agent: &str, options: &OpenOptions) -> Result<(), AgentFileError> {
        let definition = self.definition(agent)?;
        connect::executor(&self.definitions, None, definition, options)?;
        mcp::check(&self.definitions, agent, options)
    }

    /// Prepares a look at the server of a provider, which finds out how it differs from what its API says and which settings
    /// it needs. Asked is this model, or the first of the provider that an agent of the file has. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::NoProvider`], [`AgentFileError::NoServer`] and [`AgentFileError::NoModel`].
    pub fn checkup(
        &self,
        provider: &str,
        model: Option<&str>,
        options: OpenOptions,
    ) -> Result<ProviderCheckup, AgentFileError> {
        ProviderCheckup::new(&self.definitions, provider, model, options)
    }

    /// Whether an agent that the file may not define could be run with what is in the file: its models' providers and its
    /// tools. Keys, scripts and servers are not looked at. A workflow of agents that take turns cannot.
    #[must_use]
    pub fn has_parts_of(&self, agent: &AgentSpec) -> bool {
        connect::has_parts_of(&self.definitions, agent)
    }

    /// Whether the demo model answers for this agent.
    #[must_use]
    pub fn is_demo(&self, agent: &AgentSpec) -> bool {
        self.definitions.is_demo(agent)
    }

    /// Returns those who may sign decisions, from `[approvers.NAME]`; none where decisions are taken unsigned. They are part
    /// of no agent's definition: those of today decide about older runs too.
    #[must_use]
    pub const fn approvers(&self) -> &Approvers {
        &self.definitions.approvers
    }

    /// Returns the MCP servers that an agent uses, sorted. Empty if there is no such agent.
    #[must_use]
    pub fn mcp_servers(&self, agent: &str) -> &[String] {
        let agent = self.definitions.agents.get(agent);
        agent.map_or(&[], |agent| agent.mcp.as_slice())
    }

    /// Returns the names of all MCP servers of the file, sorted.
    pub fn all_mcp_servers(&self) -> impl Iterator<Item = &str> {
        self.definitions.mcp.keys().map(String::as_str)
    }

    /// Returns what it takes to start one MCP server, by its name in the file: where it is, and what it is answered
    /// when it asks.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownMcpServer`] and [`AgentFileError::McpVariable`].
    pub fn mcp_server(
        &self,
        name: &str,
        options: &OpenOptions,
    ) -> Result<(McpServerSpec, Arc<dyn McpClientHandler>), AgentFileError> {
        let options = options.clone().of_file(&self.sources.files);
        mcp::one(&self.definitions, name, &options)
    }
}

/// Whether something is there. What cannot be looked at is: opening it says what is wrong.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
