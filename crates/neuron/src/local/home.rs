//! The home of local runs: memory or a journal.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use neuron_engine::{PageRequest, RunClient, RunFilter, RunHandle};
use neuron_executor::Agents;
use neuron_local::{
    Journal, JournalError, JournaledContext, LocalClient, LocalDurableContext, MemoryWorkflow,
};
use neuron_types::{Refusal, RunId, RunRequest, RunStart};

use super::{Steps, Watched, below::Below, execution::Execution, fan::Fan};
use crate::{
    agent::{AnyAgent, Parts},
    place::{Engine, StartFuture, attach_or_start},
    run::{RunFailure, Started, Way},
};

/// Runs of this process: in memory, where nothing survives the process, or in a journal in a home directory, where
/// every step does. Cheap to clone.
#[derive(Clone)]
pub struct Local {
    kept: Kept,
}

#[derive(Clone)]
enum Kept {
    Nowhere,
    Journal(Arc<Home>),
}

struct Home {
    journal: Journal,
    client: Arc<dyn RunClient>,
    /// The runs that execute in this process.
    executions: Mutex<BTreeMap<RunId, Weak<Execution>>>,
    /// The resumed runs, which only the home keeps alive.
    recovered: Mutex<Vec<Arc<Execution>>>,
}

/// An interrupted run that was resumed.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The run.
    pub run_id: RunId,
    /// Its agent.
    pub agent: String,
}

impl Local {
    /// Returns a place that keeps nothing: a run ends with its process.
    #[must_use]
    pub const fn memory() -> Self {
        Self {
            kept: Kept::Nowhere,
        }
    }

    /// Opens the journal in this home directory, and creates both if they are missing. The built-in tools and the
    /// programs of MCP servers in this process cannot reach the directory, unless they work in it.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the directory or the database cannot be used, or belongs to another build.
    pub async fn open(home: impl Into<PathBuf>) -> Result<Self, RunFailure> {
        Ok(Self::from(Journal::open(home).await?))
    }

    /// Resumes every run of these agents that is not over and that no process executes: the runs that a killed process
    /// left behind. They continue in this process, as long as this value or a clone of it lives.
    ///
    /// Runs of other agents stay as they are. In memory nothing can be resumed.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the journal cannot be read. A run that cannot be resumed, because another process was
    /// faster or its build is too new, is left out.
    pub async fn recover(&self, agents: &[&dyn AnyAgent]) -> Result<Vec<Recovered>, RunFailure> {
        let Kept::Journal(home) = &self.kept else {
            return Ok(Vec::new());
        };
        let agents: BTreeMap<&str, &Arc<Parts>> = agents
            .iter()
            .map(|agent| (agent.parts().spec.name.as_str(), agent.parts()))
            .collect();
        let filter = RunFilter::open();
        let mut recovered = Vec::new();
        let mut page = PageRequest::default();
        loop {
            let listed = home.client.list(&filter, page).await?;
            for status in listed.runs {
                let Some(agent) = agents.get(status.first_agent()) else {
                    continue;
                };
                if let Some(execution) = home.execute(agent, &status.run_id).await? {
                    home.recovered().push(execution);
                    recovered.push(Recovered {
                        run_id: status.run_id,
                        agent: status.agent,
                    });
                }
            }
            match listed.next {
                Some(cursor) => page = PageRequest::default().after(cursor),
                None => return Ok(recovered),
            }
        }
    }

    /// Resumes a run for a caller that executes it step by step.
    pub(crate) async fn steps<O>(
        &self,
        agent: &Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> Result<Steps<O>, RunFailure> {
        match &self.kept {
            Kept::Nowhere => {
                let door = memory_door(agent, run_id).with_workflow_below(memory_workflow(agent));
                Steps::in_memory(door, start_of(agent, request)).await
            }
            Kept::Journal(home) => {
                attach_or_start(&home.client, &run_id, request).await?;
                let door = home.door(agent, &run_id).await?;
                let below = Below::of(&home.journal, &home.client, agent, &run_id);
                Steps::in_journal(door, below.map(Below::spawn)).await
            }
        }
    }

    /// Returns the client of the runs here, which also reaches runs that other processes execute; `None` in memory.
    #[must_use]
    pub fn client(&self) -> Option<Arc<dyn RunClient>> {
        match &self.kept {
            Kept::Nowhere => None,
            Kept::Journal(home) => Some(Arc::clone(&home.client)),
        }
    }
}

impl From<Journal> for Local {
    fn from(journal: Journal) -> Self {
        neuron_sandbox::hide(journal.home());
        Self {
            kept: Kept::Journal(Arc::new(Home {
                client: Arc::new(LocalClient::from(journal.clone())),
                journal,
                executions: Mutex::default(),
                recovered: Mutex::default(),
            })),
        }
    }
}

impl Engine for Local {
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        Box::pin(async move {
            match &self.kept {
                Kept::Nowhere => Ok(in_memory(agent, run_id, request)),
                Kept::Journal(home) => home.start(agent, run_id, request).await,
            }
        })
    }
}

impl Home {
    async fn start(
        &self,
        agent: &Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> Result<Started, RunFailure> {
        attach_or_start(&self.client, &run_id, request).await?;
        let run = RunHandle::new(Arc::clone(&self.client), run_id.clone());
        let here = match self.here(&run_id) {
            Some(execution) => Some(execution),
            None => self.execute(agent, &run_id).await?,
        };
        let Some(execution) = here else {
            // The run is over, or another process executes it.
            return Ok(Started::elsewhere(run));
        };
        let mut watched = Watched::of(Arc::clone(&execution));
        // The journal contains everything that happened before the watch began.
        execution.flush().await;
        watched.add_past(run.events_after(0).await?);
        Ok(Started::here(run_id, watched))
    }

    /// Executes a run here, unless it is over or is being executed already.
    async fn execute(
        &self,
        agent: &Arc<Parts>,
        run_id: &RunId,
    ) -> Result<Option<Arc<Execution>>, RunFailure> {
        let door = match JournaledContext::open(&self.journal, run_id, agent.acting()).await {
            Ok(door) => door,
            Err(
                JournalError::Executing { .. } | JournalError::Refused(Refusal::RunOver { .. }),
            ) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let run = RunHandle::new(Arc::clone(&self.client), run_id.clone());
        let fan = Arc::new(Fan::new(Way::Client(run)));
        let door = Arc::new(with_agent(door, agent).with_sink(Arc::clone(&fan) as _));
        let alive = Arc::clone(agent);
        let flushed = Arc::downgrade(&door);
        let below = Below::of(&self.journal, &self.client, agent, run_id);
        let execution = Execution::spawn(run_id.clone(), fan, flushed, async move {
            let run = door.execute(alive.journal_workflow());
            let output = match below {
                Some(below) => below.beside(run).await,
                None => run.await,
            };
            drop(alive);
            output
        });
        self.executions()
            .insert(run_id.clone(), Arc::downgrade(&execution));
        Ok(Some(execution))
    }

    async fn door(
        &self,
        agent: &Arc<Parts>,
        run_id: &RunId,
    ) -> Result<JournaledContext, RunFailure> {
        let door = JournaledContext::open(&self.journal, run_id, agent.acting()).await?;
        Ok(with_agent(door, agent))
    }

    /// Returns the execution of the run, if it is in this process.
    fn here(&self, run_id: &RunId) -> Option<Arc<Execution>> {
        let mut executions = self.executions();
        executions.retain(|_, execution| execution.strong_count() > 0);
        let execution = executions.get(run_id)?.upgrade()?;
        (!execution.is_over()).then_some(execution)
    }

    fn executions(&self) -> MutexGuard<'_, BTreeMap<RunId, Weak<Execution>>> {
        self.executions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn recovered(&self) -> MutexGuard<'_, Vec<Arc<Execution>>> {
        let mut recovered = self
            .recovered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        recovered.retain(|execution| !execution.is_over());
        recovered
    }
}

fn with_agent(door: JournaledContext, agent: &Arc<Parts>) -> JournaledContext {
    door.with_agents(Agents::from_iter([agent.spec.clone()]))
        .with_patches(patches_of(agent))
}

/// Returns the door of a run that is not kept.
fn memory_door(agent: &Arc<Parts>, run_id: RunId) -> LocalDurableContext {
    let executor = agent.acting();
    let door = LocalDurableContext::new(executor.with_definitions([agent.spec.clone()]), run_id);
    match agent.served_below() {
        Some((_, executors)) => door.with_executors(executors),
        None => door,
    }
}

/// Returns the workflow of the agent's runs in memory.
fn memory_workflow(agent: &Parts) -> MemoryWorkflow {
    match agent.serving {
        Some(serving) => serving.memory,
        None => |door, start| Box::pin(neuron_workflows::agent(door, start)),
    }
}

/// Returns the start of such a run: in the directory that its tools work in.
fn start_of(agent: &Arc<Parts>, request: RunRequest) -> RunStart {
    RunStart::Request {
        request: Box::new(request),
        directory: agent.executor.cwd().to_str().map(ToOwned::to_owned),
    }
}

/// Returns the patches that the agent's workflow declares, if it is one.
fn patches_of(agent: &Parts) -> &'static [&'static str] {
    agent.serving.map_or(&[], |serving| serving.patches)
}

fn in_memory(agent: &Arc<Parts>, run_id: RunId, request: RunRequest) -> Started {
    let door = memory_door(agent, run_id.clone());
    let fan = Arc::new(Fan::new(Way::Memory(door.handle())));
    let door = door
        .with_sink(Arc::clone(&fan) as _)
        .with_patches(patches_of(agent));
    let start = start_of(agent, request);
    // The watch begins before the run, which may start at once on another thread: items without a watcher are not kept.
    let live = fan.watch();
    let alive = Arc::clone(agent);
    let execution = Execution::spawn(run_id.clone(), fan, Weak::new(), async move {
        let output = door.execute(start, memory_workflow(&alive)).await;
        drop(alive);
        output
    });
    Started::here(run_id, Watched::with(live, execution))
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let home = match &self.kept {
            Kept::Nowhere => None,
            Kept::Journal(home) => Some(home.journal.home()),
        };
        f.debug_struct("Local").field("home", &home).finish()
    }
}
