//! The agents that a worker serves.

use std::{
    env,
    path::{Path, PathBuf},
};

use neuron_mcp::McpServers;
use neuron_runtime::{AgentFile, AgentFileError, Executor, ProcessEnvironment};
use neuron_types::AgentSpec;

use crate::{Settings, WorkerError};

/// The agent file that is read if it exists and no other is named.
const AGENT_FILE: &str = "neuron.toml";

/// The agents of an agent file, each with what its calls are made with in the working directory. Clones
/// share the MCP servers.
#[derive(Debug, Clone)]
pub struct ServedAgents {
    file: AgentFile,
    cwd: PathBuf,
    agents: Vec<(AgentSpec, Executor)>,
    servers: McpServers,
}

impl ServedAgents {
    /// All agents of the file; without a file the one that neuron comes with. Starts the MCP servers that they
    /// use, once for all their runs: see [`ServedAgents::stop`].
    ///
    /// # Errors
    ///
    /// [`WorkerError`] if there is no such file or an agent of it cannot run here: its runs would come here
    /// and fail.
    pub async fn load(settings: &Settings) -> Result<Self, WorkerError> {
        let mut file = agent_file(settings.config.as_deref())?;
        let cwd = env::current_dir().map_err(WorkerError::WorkingDirectory)?;
        let names: Vec<String> = file.agents().map(|agent| agent.name.clone()).collect();
        let servers = file.start_mcp(&names, &cwd, &ProcessEnvironment).await?;
        match executors(&file, &cwd) {
            Ok(agents) => Ok(Self {
                file,
                cwd,
                agents,
                servers,
            }),
            Err(error) => {
                servers.stop().await;
                Err(error)
            }
        }
    }

    /// Stops the MCP servers. Those that were started here have ended when this returns.
    pub async fn stop(&self) {
        self.servers.stop().await;
    }
    /// Their names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let names = self.agents.iter().map(|(agent, _)| agent.name.as_str());
        names.collect()
    }

    /// The agents and their executors, in the order of the file.
    #[must_use]
    pub fn agents(&self) -> &[(AgentSpec, Executor)] {
        &self.agents
    }

    /// Makes an executor for an agent that is not in the file as it is now.
    ///
    /// # Errors
    ///
    /// What this worker lacks for it.
    pub fn executor_for(&self, agent: &AgentSpec) -> Result<Executor, AgentFileError> {
        self.file
            .executor(agent, self.cwd.clone(), &ProcessEnvironment)
    }
}

fn executors(file: &AgentFile, cwd: &Path) -> Result<Vec<(AgentSpec, Executor)>, WorkerError> {
    let mut agents = Vec::new();
    for agent in file.agents() {
        let executor = file.executor(agent, cwd, &ProcessEnvironment)?;
        if file.is_demo(agent) {
            tracing::warn!(
                agent = agent.name,
                "the demo model answers: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write an agent file"
            );
        }
        agents.push((agent.clone(), executor));
    }
    Ok(agents)
}

fn agent_file(config: Option<&Path>) -> Result<AgentFile, WorkerError> {
    let path = match config {
        // As for other variables, an empty value is none.
        Some(path) if !path.as_os_str().is_empty() => path,
        _ if exists(Path::new(AGENT_FILE)) => Path::new(AGENT_FILE),
        _ => return Ok(AgentFile::builtin(&ProcessEnvironment)),
    };
    if !exists(path) {
        return Err(WorkerError::NoAgentFile {
            path: PathBuf::from(path),
        });
    }
    Ok(AgentFile::load(path)?)
}

/// Whether something is there. What cannot be looked at is: opening it says what is wrong.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
