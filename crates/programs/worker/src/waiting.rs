//! Waiting for the MCP servers of agents that are not served yet.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use neuron_config::{AgentFile, AgentFileError, OpenAgents, OpenOptions};
use neuron_executor::{AwaitedAgent, Executor};
use neuron_types::AgentSpec;
use tokio::{task::AbortHandle, time};

/// The pause before the second attempt. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The waiting tasks, and the agents that are ready. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    tasks: Arc<[AbortHandle]>,
    came: Came,
}

/// The agents that are ready, each with servers of its own.
#[derive(Debug, Clone, Default)]
struct Came(Arc<Mutex<Vec<OpenAgents>>>);

impl Came {
    fn lock(&self) -> MutexGuard<'_, Vec<OpenAgents>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Tries to open each of these agents until it can be served.
    pub(crate) fn begin(
        file: &AgentFile,
        options: &OpenOptions,
        agents: Vec<AwaitedAgent>,
    ) -> Self {
        let came = Came::default();
        let tasks = agents.into_iter().map(|agent| {
            let options = options.clone().agents([agent.name()]).every_provider();
            tokio::spawn(wait(file.clone(), options, agent, came.clone())).abort_handle()
        });
        let tasks = tasks.collect();
        Self { tasks, came }
    }

    /// Stops waiting for further agents, and stops the servers of those that are ready.
    pub(crate) async fn stop(&self) {
        for task in self.tasks.iter() {
            task.abort();
        }
        let came = std::mem::take(&mut *self.came.lock());
        for open in came {
            open.stop().await;
        }
    }
}

async fn wait(file: AgentFile, options: OpenOptions, agent: AwaitedAgent, came: Came) {
    let name = agent.name();
    let mut pause = FIRST_PAUSE;
    loop {
        time::sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        match open(&file, &options, name).await {
            Ok((open, definition, executor)) => {
                came.lock().push(open);
                agent.serve(definition, executor);
                tracing::info!(agent = name, "an agent is served now");
                return;
            }
            Err(error) => {
                tracing::warn!(agent = name, %error, "an agent is not served yet");
            }
        }
    }
}

async fn open(
    file: &AgentFile,
    options: &OpenOptions,
    name: &str,
) -> Result<(OpenAgents, AgentSpec, Executor), AgentFileError> {
    let open = file.clone().open(options.clone()).await?;
    let made = open.agent(name);
    let made = made.and_then(|definition| Ok((open.executor(&definition)?, definition)));
    match made {
        Ok((executor, definition)) => Ok((open, definition, executor)),
        Err(error) => {
            open.stop().await;
            Err(error)
        }
    }
}
