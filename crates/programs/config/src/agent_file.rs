//! Agent files: `neuron.toml`, parsed and checked, and the defaults without one.
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
use serde_json::Value;

use self::{
    definitions::Definitions,
    open::{connect, mcp},
    sources::Sources,
    tables::file,
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
/// The keys are described in one place: the page *The agent file* of the book, `docs/src/agent-file.md`.
///
/// Two values are equal if they define the same, however their files write it.
#[derive(Debug, Clone)]
pub struct AgentFile {
    definitions: Definitions,
    /// `None` without a file.
    path: Option<PathBuf>,
    sources: Sources,
    /// Whether the file was found, and not named by the caller.
    is_found: bool,
}

impl PartialEq for AgentFile {
    fn eq(&self, other: &Self) -> bool {
        self.definitions == other.definitions
    }
}

impl AgentFile {
    /// Reads and checks the agent file: the one that is named; otherwise [`AGENT_FILE`] in the working directory, if it
    /// exists; otherwise the defaults without a file, see [`AgentFile::builtin`]. An empty name counts as no name.
    ///
    /// A file without a name from the caller [was found](AgentFile::is_found), and is only to be used if a person
    /// [trusts](crate::check_trust) it.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::NoFile`] if the named file does not exist, and the errors of [`AgentFile::load`].
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

    /// Returns the defaults without a file: an agent `default` with the tools that change nothing and the first
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

    /// Returns the JSON Schema of agent files, for editors: every key with its description, its default and its kind.
    ///
    /// Names that have to exist elsewhere, such as those of tools and providers, are only checked when a file is read.
    ///
    /// # Examples
    ///
    /// ```
    /// let schema = neuron_config::AgentFile::schema();
    ///
    /// assert!(schema["properties"]["agents"].is_object());
    /// ```
    #[must_use]
    pub fn schema() -> Value {
        file::schema()
    }

    /// Returns whether the file was found in the working directory, and not named by the caller.
    #[must_use]
    pub const fn is_found(&self) -> bool {
        self.is_found
    }

    /// Returns the path of the file; `None` without a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the SHA-256 of the file and of everything that is part of it, as `sha256:…`: the files that it includes,
    /// and the texts that stand in separate files. Empty without a file.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.sources.digest
    }

    /// Returns where a worker keeps the sessions of runs that name one: an SQLite database; `None` if it keeps none. A
    /// relative path of the file starts from the file's folder.
    #[must_use]
    pub fn sessions(&self) -> Option<PathBuf> {
        let to = self.definitions.sessions.as_deref()?;
        let file = self.path.as_deref().unwrap_or(Path::new(""));
        Some(file.with_file_name("").join(to))
    }

    /// Returns what the agents of the file do without asking a person: see [`Wants`].
    #[must_use]
    pub fn wants(&self) -> Wants {
        wanted::of(&self.definitions, &self.sources)
    }

    /// Opens agents of the file: starts the MCP servers that they use, which may work in the directory and ask models
    /// and people if the file allows it, and gives the agents their tools.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownAgent`], [`AgentFileError::Mcp`] and [`AgentFileError::McpVariable`]. After an error no
    /// server runs.
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
    /// [`AgentFileError::UnknownAgent`], which lists the names of the existing agents.
    pub fn definition(&self, name: &str) -> Result<&AgentSpec, AgentFileError> {
        Ok(&self.definitions.agent(name)?.spec)
    }

    /// Checks whether runs of an agent have what they need here: keys, scripts, providers, the programs of MCP servers
    /// and the variables of those programs. No MCP server is started and nothing is sent.
    ///
    /// # Errors
    ///
    /// The errors of [`OpenAgents::executor`], [`AgentFileError::McpProgram`], [`AgentFileError::McpVariable`] and
    /// [`AgentFileError::UnknownAgent`].
    pub fn check(&self, agent: &str, options: &OpenOptions) -> Result<(), AgentFileError> {
        let definition = self.definition(agent)?;
        connect::executor(&self.definitions, None, definition, options)?;
        mcp::check(&self.definitions, agent, options)
    }

    /// Prepares a check of a provider's server: how the server differs from what its API says, and which settings it
    /// needs. The check asks this model, or the first model of the provider that an agent of the file has. Nothing is
    /// sent yet.
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

    /// Returns whether an agent, which the file need not define, could be run with what is in the file: its models'
    /// providers and its tools. Keys, scripts and servers are not checked. A workflow of agents that take turns cannot
    /// be run.
    #[must_use]
    pub fn has_parts_of(&self, agent: &AgentSpec) -> bool {
        connect::has_parts_of(&self.definitions, agent)
    }

    /// Returns whether the demo model answers for this agent.
    #[must_use]
    pub fn is_demo(&self, agent: &AgentSpec) -> bool {
        self.definitions.is_demo(agent)
    }

    /// Returns the approvers who may sign decisions, from `[approvers.NAME]`; empty if decisions are accepted unsigned.
    /// Approvers are part of no agent's definition: today's approvers decide about older runs too.
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

    /// Returns what it takes to start one MCP server, by its name in the file: where the server is, and what its
    /// requests are answered.
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

/// Returns whether the path exists. An inaccessible path counts as existing: opening it reports the error.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
