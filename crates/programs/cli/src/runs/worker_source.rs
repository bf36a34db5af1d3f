//! The source of a worker's local agents: those of its agent file, each run in its own directory.

use std::{
    collections::BTreeMap,
    error::Error,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use neuron_config::{AGENT_FILE, AgentFile, OpenAgents, OpenOptions};
use neuron_local::{ExecutorSource, NotServed, RunExecutor, WaitingRun};
use neuron_types::{AgentRef, with_causes};
use tokio::sync::OnceCell;

/// The agents of a worker's agent file. No other file is loaded, as no person has trusted one here. Clones share what
/// is open.
#[derive(Clone)]
pub(crate) struct WorkerSource(Arc<Inner>);

/// The open agents, by the directory in which they work and the agent's name. Slow opening does not delay others.
type Opened = BTreeMap<(PathBuf, String), Arc<OnceCell<OpenAgents>>>;

struct Inner {
    file: AgentFile,
    options: OpenOptions,
    /// The directory of the worker.
    directory: PathBuf,
    open: Mutex<Opened>,
}

impl WorkerSource {
    /// Returns the agents of this file, for a worker in this directory.
    pub(crate) fn new(file: AgentFile, options: OpenOptions, directory: PathBuf) -> Self {
        let directory = directory.canonicalize().unwrap_or(directory);
        Self(Arc::new(Inner {
            file,
            options,
            directory,
            open: Mutex::default(),
        }))
    }

    /// Stops the MCP servers.
    pub(crate) async fn stop(&self) {
        let opened = std::mem::take(&mut *self.0.opened());
        for agents in opened.values().filter_map(|opened| opened.get()) {
            agents.stop().await;
        }
    }
}

impl Inner {
    async fn executor(&self, run: &WaitingRun) -> Result<RunExecutor, NotServed> {
        let name = run.agent.name();
        self.file.definition(name).map_err(|error| left(&error))?;
        let directory = self.directory_of(run)?;
        let agents = self.open(directory, name).await?;
        let current = agents.agent(name).map_err(|error| left(&error))?;
        let executor = match &run.agent {
            AgentRef::Definition(agent) if !run.was_upgraded => agents.executor(agent),
            // The run may need providers that its own definition does not have.
            AgentRef::Definition(agent) => agents
                .executor(&current)
                .or_else(|_| agents.executor(agent)),
            AgentRef::Name(_) => agents.executor(&current),
        };
        let executor = executor.map_err(|error| left(&error))?;
        Ok(RunExecutor::new(executor, [current].into_iter().collect()))
    }

    /// Returns where the run works, if the worker's file is responsible for that place: a named file is for every
    /// place, and one that was only found is for its own directory and what is below, unless another file is nearer.
    fn directory_of<'a>(&self, run: &'a WaitingRun) -> Result<&'a Path, NotServed> {
        let run_id = &run.run_id;
        let Some(directory) = run.directory.as_deref() else {
            return Err(NotServed::new(format!(
                "it names no directory: continue it in the directory for its work with `neuron resume {run_id} --here`"
            )));
        };
        // The real path counts, not the path as it was written.
        let real = directory.canonicalize().ok().filter(|real| real.is_dir());
        let Some(real) = real else {
            return Err(NotServed::new(format!(
                "it works in {}, which cannot be entered: restore the directory",
                directory.display()
            )));
        };
        let is_named = self.file.path().is_some() && !self.file.is_found();
        if !is_named {
            if !real.starts_with(&self.directory) {
                return Err(NotServed::new(format!(
                    "it works in {}, which is not below {}: name the agent file with --config, or start a worker there",
                    directory.display(),
                    self.directory.display()
                )));
            }
            let below = real.ancestors();
            let mut below = below.take_while(|path| *path != self.directory);
            if let Some(other) = below.find(|path| path.join(AGENT_FILE).exists()) {
                return Err(NotServed::new(format!(
                    "{} has an agent file of its own, which is not loaded here: start a worker there",
                    other.display()
                )));
            }
        }
        Ok(directory)
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn open(&self, directory: &Path, name: &str) -> Result<OpenAgents, NotServed> {
        let key = (directory.to_owned(), name.to_owned());
        let opened = Arc::clone(self.opened().entry(key).or_default());
        let options = self.options.clone().in_directory(directory);
        // A run may have set another model.
        let options = options.agents([name]).every_provider();
        let opening = self.file.clone().open(options);
        let agents = opened.get_or_try_init(|| opening).await;
        agents.cloned().map_err(|error| left(&error))
    }
}

fn left(error: &dyn Error) -> NotServed {
    NotServed::new(with_causes(error))
}

impl ExecutorSource for WorkerSource {
    fn executor<'a>(
        &'a self,
        run: &'a WaitingRun,
    ) -> Pin<Box<dyn Future<Output = Result<RunExecutor, NotServed>> + Send + 'a>> {
        Box::pin(self.0.executor(run))
    }
}
