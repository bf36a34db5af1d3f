//! What the commands share: options, standard output, the agent file, the journal.

use std::{
    env,
    path::{Path, PathBuf},
};

use neuron_runtime::{AgentFile, Journal, ProcessEnvironment};
use neuron_types::RunId;

use crate::{
    CliError,
    args::{EngineName, Global},
    engine::Engine,
    output::Output,
    shown,
};

/// The agent file that is read if it exists and no other is named.
const AGENT_FILE: &str = "neuron.toml";

/// The home directory unless `NEURON_HOME` names another.
const HOME: &str = ".neuron";

/// One call of the command.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) global: Global,
    pub(crate) output: Output,
}

impl Session {
    pub(crate) fn new(global: Global) -> Self {
        let output = Output::new(global.json);
        Self { global, output }
    }

    /// The agents: those of the agent file, or what there is without one.
    ///
    /// # Errors
    ///
    /// [`CliError::NoAgentFile`] where one is named that does not exist, [`CliError::AgentFile`].
    pub(crate) fn agent_file(&self) -> Result<AgentFile, CliError> {
        let path = match &self.global.config {
            // As for other variables, an empty value is none.
            Some(path) if !path.as_os_str().is_empty() => path.as_path(),
            _ if exists(Path::new(AGENT_FILE)) => Path::new(AGENT_FILE),
            _ => return Ok(AgentFile::builtin(&ProcessEnvironment)),
        };
        if !exists(path) {
            return Err(CliError::NoAgentFile {
                path: path.to_owned(),
            });
        }
        Ok(AgentFile::load(path)?)
    }

    /// The journal, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`].
    pub(crate) async fn journal(&self) -> Result<Journal, CliError> {
        Ok(Journal::open(home()).await?)
    }

    /// The journal if there is one: looking for runs makes none.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`].
    pub(crate) async fn journal_if_any(&self) -> Result<Option<Journal>, CliError> {
        if exists(&home().join("neuron.db")) {
            self.journal().await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// What runs the agents.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being reached.
    pub(crate) async fn engine(&self) -> Result<Engine, CliError> {
        Engine::open(self).await
    }

    /// Where the agent's tools work.
    ///
    /// # Errors
    ///
    /// [`CliError::WorkingDirectory`].
    pub(crate) fn cwd(&self) -> Result<PathBuf, CliError> {
        env::current_dir().map_err(CliError::WorkingDirectory)
    }

    /// What to type to go on with a run, or to go on watching one on an engine: with the agent file of this
    /// command, if it names one.
    pub(crate) fn resume_command(&self, run_id: &RunId) -> String {
        if self.global.engine != EngineName::Local {
            return self.typed(&format!("wait {run_id}"));
        }
        let mut command = self.typed(&format!("resume {run_id}"));
        let named = self.global.config.as_ref();
        let from_environment = env::var_os("NEURON_CONFIG").map(PathBuf::from);
        if let Some(path) = named.filter(|path| Some(*path) != from_environment.as_ref()) {
            let path = path.to_string_lossy();
            command.push_str(&format!(" --config {}", shown::shell_word(&path)));
        }
        command
    }

    /// What to type for a command about a run of the same engine.
    pub(crate) fn typed(&self, words: &str) -> String {
        let engine = self.global.engine;
        let named_anyway = env::var("NEURON_ENGINE").unwrap_or_default();
        let named_anyway = match named_anyway.as_str() {
            "" => EngineName::Local.as_str(),
            name => name,
        };
        if engine.as_str() == named_anyway {
            format!("neuron {words}")
        } else {
            format!("neuron {words} --engine {engine}")
        }
    }
}

/// Where local runs are kept.
pub(crate) fn home() -> PathBuf {
    env::var_os("NEURON_HOME")
        .filter(|home| !home.is_empty())
        .map_or_else(|| PathBuf::from(HOME), PathBuf::from)
}

/// Whether something is there. What cannot be looked at is: opening it says what is wrong.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
