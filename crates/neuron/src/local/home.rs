//! A home of local runs: a directory with their journal.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use neuron_engine::{PageRequest, RunClient, RunFilter, RunHandle};
use neuron_executor::Agents;
use neuron_local::{Journal, JournalError, JournaledContext, LocalClient};
use neuron_types::{Refusal, RunId, RunRequest};

use super::{Steps, Watched, below::Below, directory::elsewhere, execution::Execution, fan::Fan};
use crate::{
    agent::{AnyAgent, Parts},
    place::attach_or_start,
    run::{RunFailure, Started, Way},
};

/// The journal of a home, and what is executed of it in this process.
pub(super) struct Home {
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

impl Home {
    /// Returns the home with this journal, which the built-in tools and the programs of MCP servers cannot reach.
    pub(super) fn of(journal: Journal) -> Self {
        neuron_sandbox::hide(journal.home());
        Self {
            client: Arc::new(LocalClient::from(journal.clone())),
            journal,
            executions: Mutex::default(),
            recovered: Mutex::default(),
        }
    }

    /// Returns the directory.
    pub(super) fn path(&self) -> &Path {
        self.journal.home()
    }

    /// Returns the client of the runs here, which also reaches runs that other processes execute.
    pub(super) fn client(&self) -> Arc<dyn RunClient> {
        Arc::clone(&self.client)
    }

    /// Resumes the runs of these agents that no process executes.
    pub(super) async fn recover(
        &self,
        agents: &[&dyn AnyAgent],
    ) -> Result<Vec<Recovered>, RunFailure> {
        let agents: BTreeMap<&str, &Arc<Parts>> = agents
            .iter()
            .map(|agent| (agent.parts().spec.name.as_str(), agent.parts()))
            .collect();
        let filter = RunFilter::open();
        let mut recovered = Vec::new();
        let mut page = PageRequest::default();
        loop {
            let listed = self.client.list(&filter, page).await?;
            for status in listed.runs {
                let Some(agent) = agents.get(status.first_agent()) else {
                    continue;
                };
                let directory = self.journal.directory(&status.run_id).await?;
                if let Some(reason) = elsewhere(directory.as_deref(), &agent.acting()) {
                    tracing::warn!(run_id = %status.run_id, "a run is not resumed here: {reason}");
                    continue;
                }
                if let Some(execution) = self.execute(agent, &status.run_id).await? {
                    self.recovered().push(execution);
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

    /// Starts or resumes a run for a caller that executes it step by step.
    pub(super) async fn steps<O>(
        &self,
        agent: &Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> Result<Steps<O>, RunFailure> {
        attach_or_start(&self.client, &run_id, request).await?;
        let door = self.door(agent, &run_id).await?;
        let below = Below::of(&self.journal, &self.client, agent, &run_id);
        Steps::in_journal(door, below.map(Below::spawn)).await
    }

    /// Starts a run, or attaches to it, and executes it here unless another process does.
    pub(super) async fn start(
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
        let execution = Execution::spawn(run_id.clone(), fan, async move {
            let run = door.execute(alive.journal_workflow());
            let output = match below {
                Some(below) => below.beside(run).await,
                None => run.await,
            };
            drop(alive);
            output
        });
        let execution = Arc::new(execution.with_door(flushed));
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
        .with_patches(agent.patches())
}
