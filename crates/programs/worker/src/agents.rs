//! The agents that a worker serves.

use std::{env, sync::Arc};

use neuron_config::{
    AgentFile, AgentFileError, OpenAgents, OpenOptions, ProcessEnvironment, check_trust,
};
use neuron_engine::RunClient;
use neuron_executor::{Agents, AwaitedAgent, Executors, Sessions};
use neuron_local::{SessionManager, StoredSessions};

use crate::{Settings, WorkerError, sessions, waiting::Waiting};

/// The agents of an agent file, each with the means to make its calls in the working directory. Clones share the MCP
/// servers.
#[derive(Debug, Clone)]
pub struct ServedAgents {
    open: OpenAgents,
    executors: Executors,
    definitions: Agents,
    /// The agents whose MCP servers did not start.
    waiting: Waiting,
    /// The sessions that the agent file names.
    sessions: Option<SessionManager>,
}

impl ServedAgents {
    /// Loads all agents of the file; without a file the agent that neuron comes with. Starts the MCP servers that they
    /// use, once for all their runs: see [`ServedAgents::stop`]. Agents with a server that does not start are served as
    /// soon as it does, and until then their runs are left to other workers.
    ///
    /// # Errors
    ///
    /// [`WorkerError`] if the file does not exist, if it was only found and no person has trusted it, or if one of its
    /// agents cannot run here: runs of that agent would be given to this worker and fail.
    pub async fn load(settings: &Settings) -> Result<Self, WorkerError> {
        let file = AgentFile::find(settings.config.as_deref(), &ProcessEnvironment)?;
        check_trust(&file, &ProcessEnvironment)?;
        let cwd = env::current_dir().map_err(WorkerError::WorkingDirectory)?;
        let options = OpenOptions::new(cwd);
        let skipping = options.clone().skipping_closed();
        let sessions = match file.sessions() {
            Some(to) => Some(sessions::open(&to).await?),
            None => None,
        };
        let open = file.clone().open(skipping).await?;
        match executors(&open) {
            Ok((executors, definitions)) => {
                log_sandboxes(&open);
                let awaited = awaited(&open);
                Ok(Self {
                    open,
                    executors: executors.awaiting(awaited.clone()),
                    definitions: definitions.awaiting(awaited.clone()),
                    waiting: Waiting::begin(&file, &options, awaited),
                    sessions,
                })
            }
            Err(error) => {
                open.stop().await;
                Err(error.into())
            }
        }
    }

    /// Stops the MCP servers. Servers that were started here have ended when this returns.
    pub async fn stop(&self) {
        self.waiting.stop().await;
        self.open.stop().await;
    }

    /// Returns the names of the agents that are served from the start, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.open.names().collect()
    }

    /// Returns the executors of the agents. Each acts for every run of its agent, whatever definition the run began
    /// with. Runs that continue a session get one of the agent file's sessions, if it keeps any. `client` makes the
    /// client of the engine that is served, which reads the session's previous run. It is only called for that.
    ///
    /// # Errors
    ///
    /// The client could not be made.
    pub fn executors<E>(
        &self,
        client: impl FnOnce() -> Result<Arc<dyn RunClient>, E>,
    ) -> Result<Executors, E> {
        let executors = self.executors.clone();
        let Some(sessions) = &self.sessions else {
            return Ok(executors);
        };
        let stored: Arc<dyn Sessions> = Arc::new(StoredSessions::new(sessions.clone(), client()?));
        Ok(executors.with_sessions(&stored))
    }

    /// Returns the definitions of the agents, for runs that name them.
    #[must_use]
    pub fn definitions(&self) -> Agents {
        self.definitions.clone()
    }
}

/// Returns the agents whose MCP servers did not start.
fn awaited(open: &OpenAgents) -> Vec<AwaitedAgent> {
    let closed = open.closed().map(|(agent, why)| {
        tracing::error!(agent, "an agent is not served yet: {why}");
        AwaitedAgent::new(agent)
    });
    closed.collect()
}

/// Logs in one line what confines the agents' commands.
fn log_sandboxes(open: &OpenAgents) {
    let sandboxes: Vec<_> = open
        .sandboxes()
        .map(|(agent, sandbox)| format!("{agent}: {sandbox}"))
        .collect();
    if !sandboxes.is_empty() {
        tracing::info!("commands are confined: {}", sandboxes.join(", "));
    }
}

fn executors(open: &OpenAgents) -> Result<(Executors, Agents), AgentFileError> {
    let (mut executors, mut definitions) = (Vec::new(), Vec::new());
    for name in open.names() {
        let agent = open.agent(name)?;
        let executor = open.executor(&agent)?;
        if open.is_demo(&agent) {
            tracing::warn!(
                agent = agent.name,
                "the demo model answers: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or write an agent file"
            );
        }
        executors.push((agent.name.clone(), executor));
        definitions.push(agent);
    }
    let unbound: Vec<&str> = open.unbound_agents().collect();
    if !unbound.is_empty() {
        tracing::warn!(
            agents = unbound.join(", "),
            "signatures do not restrain these agents, because their commands could use a key of this user: store \
             approvers' keys elsewhere, or use keys that need a touch (sk) or a confirmation (ssh-add -c)"
        );
    }
    let definitions = definitions.into_iter().collect();
    Ok((Executors::by_agent(executors), definitions))
}
