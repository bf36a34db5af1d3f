//! The agents that this worker serves.

use std::{
    env,
    path::{Path, PathBuf},
};

use neuron_runtime::{AgentFile, Executor, ProcessEnvironment};
use neuron_temporal::Executors;

use crate::error::StartError;

/// The agent file that is read if it exists and no other is named.
const AGENT_FILE: &str = "neuron.toml";

/// The agents by name, each with what its calls are made with.
pub(crate) struct Agents {
    pub(crate) names: Vec<String>,
    pub(crate) executors: Executors,
}

impl Agents {
    /// All agents of the file. One that cannot run here keeps the worker from starting: its runs would
    /// come here and fail.
    pub(crate) fn load(config: Option<&Path>) -> Result<Self, StartError> {
        let file = agent_file(config)?;
        let cwd = env::current_dir().map_err(StartError::WorkingDirectory)?;
        let mut executors: Vec<(String, Executor)> = Vec::new();
        for agent in file.agents() {
            let executor = file.executor(agent, cwd.clone(), &ProcessEnvironment)?;
            if file.is_demo(agent) {
                tracing::warn!(
                    agent = agent.name,
                    "the demo model answers: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write an agent file"
                );
            }
            executors.push((agent.name.clone(), executor));
        }
        Ok(Self {
            names: executors.iter().map(|(name, _)| name.clone()).collect(),
            executors: Executors::by_agent(executors),
        })
    }
}

fn agent_file(config: Option<&Path>) -> Result<AgentFile, StartError> {
    let path = match config {
        // As for other variables, an empty value is none.
        Some(path) if !path.as_os_str().is_empty() => path,
        _ if exists(Path::new(AGENT_FILE)) => Path::new(AGENT_FILE),
        _ => return Ok(AgentFile::builtin(&ProcessEnvironment)),
    };
    if !exists(path) {
        return Err(StartError::NoAgentFile {
            path: PathBuf::from(path),
        });
    }
    Ok(AgentFile::load(path)?)
}

/// Whether something is there. What cannot be looked at is: opening it says what is wrong.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
