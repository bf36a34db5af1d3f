//! Sub-agents of a program: named configurations, and runs of them in this process, with the tools and the provider of
//! their caller.
//!
//! Nothing of such a run is kept: it ends with its process. Agents whose runs survive their process start others by the
//! agent file, and workflows of a program by [`Door::start_agent`](crate::workflow::Door::start_agent).
//!
//! ```
//! use std::sync::Arc;
//!
//! use neuron::{prelude::*, SubAgentConfig, SubAgentManager, tool::ToolRegistry};
//! use neuron_config::ScriptModel;
//!
//! /// Says how long a text is.
//! #[neuron_tool(read_only)]
//! async fn letters(text: String) -> Result<usize, ToolError> {
//!     Ok(text.len())
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut tools = ToolRegistry::new();
//! tools.register(LettersTool);
//! let script = r#"{"turns": [
//!     {"tool_calls": [{"name": "letters", "input": {"text": "tea"}}]},
//!     {"text": "It has 3 letters."}
//! ]}"#;
//! let provider = Arc::new(ScriptModel::parse(script)?);
//!
//! let mut manager = SubAgentManager::new();
//! manager.register("counter", SubAgentConfig {
//!     system_prompt: "You count letters.".into(),
//!     tools: vec!["letters".into()],
//!     max_turns: Some(3),
//!     ..SubAgentConfig::default()
//! });
//! let result = manager.spawn("counter", "How long is tea?", &tools, provider).await?;
//! assert_eq!(result.text, "It has 3 letters.");
//! assert_eq!(result.run.turns, 2);
//! # Ok(())
//! # }
//! ```

use std::{collections::BTreeMap, sync::Arc};

use futures::future::try_join_all;
use neuron_executor::Executor;
use neuron_tool::ToolRegistry;
use neuron_types::{AgentSpec, DynProvider, Limits, RunOutput, SystemPrompt};

use crate::{Agent, RunFailure, agent::Parts};

/// The name under which the executor of a sub-agent knows its provider.
const PROVIDER: &str = "parent";

/// The configuration of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgentConfig {
    /// The sub-agent's instructions.
    pub system_prompt: String,
    /// The sub-agent's tools, of those of its caller. The sub-agent does not see the others, and unknown names are
    /// ignored.
    pub tools: Vec<String>,
    /// The name by which the provider knows the model. Default is `None`: the provider is asked for no model by name.
    pub model: Option<String>,
    /// How many levels of runs there may be, the sub-agent's own included. Default is 1: the sub-agent starts no
    /// others. With 0 it is not started itself.
    pub max_depth: usize,
    /// The most model calls in a run. Default is the limit of [`Limits`].
    pub max_turns: Option<usize>,
}

impl Default for SubAgentConfig {
    fn default() -> Self {
        Self {
            system_prompt: String::new(),
            tools: Vec::new(),
            model: None,
            max_depth: 1,
            max_turns: None,
        }
    }
}

/// The sub-agents of a program, by name.
#[derive(Debug, Clone, Default)]
pub struct SubAgentManager {
    /// The configuration of each sub-agent.
    pub configs: BTreeMap<String, SubAgentConfig>,
}

/// The result of a run of a sub-agent.
#[derive(Debug, Clone)]
pub struct AgentResult {
    /// The sub-agent's name.
    pub name: String,
    /// The run's answer.
    pub text: String,
    /// Everything that is known of the run: usage, cost, turns.
    pub run: RunOutput,
}

/// Why a sub-agent gave no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SubAgentError {
    /// The name is not registered.
    #[error("there is no sub-agent {name:?} (known: {})", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The registered names.
        known: Vec<String>,
    },
    /// The sub-agent may not be started: its [`max_depth`](SubAgentConfig::max_depth) is 0.
    #[error("the sub-agent {name} is not started: its max_depth is 0")]
    TooDeep {
        /// Its name.
        name: String,
    },
    /// The run gave no answer: it failed, met a limit, or asked a person, which is not possible here.
    #[error("the sub-agent {name} came to no answer")]
    Run {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: RunFailure,
    },
}

impl SubAgentManager {
    /// Returns a manager without sub-agents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sub-agent. One of the same name is replaced.
    pub fn register(&mut self, name: impl Into<String>, config: SubAgentConfig) {
        self.configs.insert(name.into(), config);
    }

    /// Gives the sub-agent of this name a task, and returns the result. The sub-agent sees nothing of the caller's
    /// conversation. Dropping the future ends the run.
    ///
    /// # Errors
    ///
    /// [`SubAgentError`]. Nothing is started if the sub-agent is unknown or may not be started.
    pub async fn spawn(
        &self,
        name: &str,
        prompt: &str,
        parent_tools: &ToolRegistry,
        provider: Arc<dyn DynProvider>,
    ) -> Result<AgentResult, SubAgentError> {
        let agent = self.agent(name, parent_tools, provider)?;
        answer(agent, prompt).await
    }

    /// Does the same as [`spawn`](Self::spawn), for several sub-agents at the same time. The results are in the order
    /// of the tasks.
    ///
    /// # Errors
    ///
    /// The first [`SubAgentError`]: the other runs are ended. Nothing is started if one of the sub-agents is unknown or
    /// may not be started.
    pub async fn spawn_parallel<N: AsRef<str>, P: AsRef<str>>(
        &self,
        tasks: Vec<(N, P)>,
        parent_tools: &ToolRegistry,
        provider: Arc<dyn DynProvider>,
    ) -> Result<Vec<AgentResult>, SubAgentError> {
        let mut agents = Vec::new();
        for (name, prompt) in &tasks {
            let agent = self.agent(name.as_ref(), parent_tools, Arc::clone(&provider))?;
            agents.push((agent, prompt.as_ref()));
        }
        let answers = agents.into_iter();
        try_join_all(answers.map(|(agent, prompt)| answer(agent, prompt))).await
    }

    /// Returns the sub-agent of this name, with its part of the caller's tools.
    fn agent(
        &self,
        name: &str,
        parent_tools: &ToolRegistry,
        provider: Arc<dyn DynProvider>,
    ) -> Result<Agent, SubAgentError> {
        let Some(config) = self.configs.get(name) else {
            return Err(SubAgentError::Unknown {
                name: name.to_owned(),
                known: self.configs.keys().cloned().collect(),
            });
        };
        let name = name.to_owned();
        let Some(levels) = config.max_depth.checked_sub(1) else {
            return Err(SubAgentError::TooDeep { name });
        };
        let mut limits = Limits::default();
        if let Some(turns) = config.max_turns {
            limits.turns = Some(u32::try_from(turns).unwrap_or(u32::MAX));
        }
        let mut spec = AgentSpec {
            name,
            limits,
            max_depth: u32::try_from(levels).unwrap_or(u32::MAX),
            ..AgentSpec::default()
        };
        let head = spec.head_mut();
        head.provider = Some(PROVIDER.to_owned());
        head.model = config.model.clone().unwrap_or_default();
        head.system = Some(SystemPrompt::Text(config.system_prompt.clone()));
        head.tools = parent_tools.definitions();
        head.tools.retain(|tool| config.tools.contains(&tool.name));
        let executor = Executor::builder()
            .shared_provider(PROVIDER, provider)
            .tools(parent_tools.clone())
            .build();
        Ok(Agent::new(Parts {
            // The model can only call one of these tools.
            executor: executor.granting(&spec),
            spec,
            serving: None,
            description: None,
            others: Vec::new(),
            file: None,
            alive: None,
        }))
    }
}

async fn answer(agent: Agent, prompt: &str) -> Result<AgentResult, SubAgentError> {
    let name = agent.name().to_owned();
    let result = async {
        let finished = agent.run_to_its_end(prompt).await?;
        let run = finished.output().clone();
        Ok((finished.into_text()?, run))
    };
    match result.await {
        Ok((text, run)) => Ok(AgentResult { name, text, run }),
        Err(source) => Err(SubAgentError::Run { name, source }),
    }
}
