//! The agents that this worker serves.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use neuron_restate::Executors;
use neuron_runtime::{AgentFile, Executor, ProcessEnvironment};
use neuron_types::{AgentSpec, FailureKind, StepFailure};

use crate::error::StartError;

/// The agent file that is read if it exists and no other is named.
const AGENT_FILE: &str = "neuron.toml";

/// How many executors are remembered for definitions that are not in the file: those of runs that an earlier
/// version of it started, and of single tools.
const REMEMBERED: usize = 64;

/// The agents of a file, each with what its calls are made with.
pub(crate) struct Agents {
    file: AgentFile,
    cwd: PathBuf,
    own: BTreeMap<String, (AgentSpec, Executor)>,
    others: Mutex<BTreeMap<String, Executor>>,
}

impl Agents {
    /// All agents of the file. One that cannot run here keeps the worker from starting: its runs would
    /// come here and fail.
    pub(crate) fn load(config: Option<&Path>) -> Result<Self, StartError> {
        let file = agent_file(config)?;
        let cwd = env::current_dir().map_err(StartError::WorkingDirectory)?;
        let mut own = BTreeMap::new();
        for agent in file.agents() {
            let executor = file.executor(agent, cwd.clone(), &ProcessEnvironment)?;
            if file.is_demo(agent) {
                tracing::warn!(
                    agent = agent.name,
                    "the demo model answers: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write an agent file"
                );
            }
            own.insert(agent.name.clone(), (agent.clone(), executor));
        }
        Ok(Self {
            file,
            cwd,
            own,
            others: Mutex::default(),
        })
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.own.keys().map(String::as_str).collect()
    }
}

impl Executors for Agents {
    fn executor(&self, agent: &AgentSpec) -> Result<Executor, StepFailure> {
        if let Some((known, executor)) = self.own.get(&agent.name)
            && serves(known, agent)
        {
            return Ok(executor.clone());
        }
        let broken = |message: String| StepFailure::new(FailureKind::Internal, message);
        let key = serde_json::to_string(agent).map_err(|error| broken(error.to_string()))?;
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executor) = others.get(&key) {
            return Ok(executor.clone());
        }
        let made = self
            .file
            .executor(agent, self.cwd.clone(), &ProcessEnvironment);
        let executor = made.map_err(|error| {
            broken(format!(
                "this worker cannot act for the agent {}: {error}",
                agent.name
            ))
        })?;
        if others.len() >= REMEMBERED {
            others.clear();
        }
        others.insert(key, executor.clone());
        Ok(executor)
    }
}

/// Whether the executor of the agent in the file is that of the agent of a run: the one may do no more than
/// the other.
fn serves(known: &AgentSpec, agent: &AgentSpec) -> bool {
    let tools = &known.request.tools;
    let knows_tools = agent.request.tools.iter().all(|tool| tools.contains(tool));
    if agent.request.provider.is_none() {
        // The agent of a tool call.
        return knows_tools;
    }
    knows_tools
        && tools.len() == agent.request.tools.len()
        && known.request.provider == agent.request.provider
        && known.context == agent.context
        && known.model_timeout == agent.model_timeout
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
