//! The journaled door as a host.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use neuron_engine::{PageRequest, RunClient, RunFilter};
use neuron_executor::{Agents, Executor, Executors};
use neuron_local::{Journal, JournalError, JournaledContext, LocalClient, LocalWorker};
use neuron_types::{Refusal, RunId, RunOutput, RunRequest};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{ClientSession, Desk, Host, HostError, World};

const BETWEEN_LOOKS: Duration = Duration::from_millis(5); // Between two looks.

/// Executes runs through [`JournaledContext`], in this process and in a journal of the session's own.
///
/// Killing it drops the futures that execute, with their doors and the journal. Executing again opens all of them
/// again.
#[derive(Debug, Clone, Default)]
pub struct JournaledHost {
    continue_as_new_after: Option<u64>,
}

/// A session of [`JournaledHost`].
#[derive(Debug)]
pub struct JournaledSession {
    host: JournaledHost,
    world: World,
    executor: Executor,
    home: TempDir,
    /// A client such as another process has.
    client: Arc<dyn RunClient>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The journal of the executing side, while there is one.
    executing: Option<Journal>,
    runs: BTreeMap<RunId, Option<JoinHandle<()>>>,
    /// The errors that kept runs from continuing.
    broken: Arc<Mutex<BTreeMap<RunId, String>>>,
}

impl Host for JournaledHost {
    type Session = JournaledSession;
    const SURVIVES: bool = true;
    const HAS_ENGINE: bool = false;
    const ROLLS_OVER: bool = true;

    fn rolling_over_after(&self, events: u64) -> Self {
        Self {
            continue_as_new_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<JournaledSession, HostError> {
        let home = TempDir::new()?;
        Ok(JournaledSession {
            host: self.clone(),
            world: world.clone(),
            executor: world.executor(),
            client: Arc::new(LocalClient::new(home.path())),
            home,
            state: Mutex::default(),
        })
    }
}

impl JournaledSession {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the journal as another process opens it.
    async fn journal(&self) -> Result<Journal, JournalError> {
        Journal::open(self.home.path()).await
    }

    /// Waits until no run is executed: those below an aborted run are tasks of their own, which end a moment later.
    async fn nothing_executes(&self) -> Result<(), HostError> {
        let open = RunFilter::open();
        let mut page = PageRequest::default();
        loop {
            let listed = self.client.list(&open, page).await?;
            for status in listed.runs {
                while self.client.is_executing(&status.run_id).await? == Some(true) {
                    tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
                }
            }
            match listed.next {
                Some(cursor) => page = PageRequest::default().after(cursor),
                None => return Ok(()),
            }
        }
    }

    fn start(&self, state: &mut State, run_id: &RunId) {
        let Some(journal) = state.executing.clone() else {
            return;
        };
        let (host, executor) = (self.host.clone(), self.executor.clone());
        let agents = self.world.agents();
        let run_id = run_id.clone();
        let (id, broken) = (run_id.clone(), Arc::clone(&state.broken));
        let task = tokio::spawn(async move {
            if let Err(error) = host.execute(&journal, &run_id, executor, agents).await {
                broken.lock().unwrap().insert(run_id, error.to_string());
            }
        });
        state.runs.insert(id, Some(task));
    }
}

impl JournaledHost {
    /// Claims a run, and executes it to its end.
    async fn execute(
        &self,
        journal: &Journal,
        run_id: &RunId,
        executor: Executor,
        agents: Agents,
    ) -> Result<(), HostError> {
        let mut door = loop {
            match JournaledContext::open(journal, run_id, executor.clone()).await {
                // The killed executor is still writing to the disk.
                Err(JournalError::Executing { .. }) => {
                    tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
                }
                Err(JournalError::Refused(Refusal::RunOver { .. })) => return Ok(()),
                opened => break opened?,
            }
        };
        door = door.with_agents(agents.clone());
        // The runs that it starts are executed beside it, as a worker does.
        let executors = Executors::from(executor.with_definitions(agents.definitions().cloned()));
        let mut worker =
            LocalWorker::builder(journal.clone(), (executors, agents), |door, start| {
                Box::pin(neuron_workflows::run_of_tree::<Desk, _>(door, start))
            });
        if let Some(operations) = self.continue_as_new_after {
            worker = worker.continue_as_new_after(operations);
        }
        let worker = worker.max_runs(64).below(run_id).build();
        if let Some(operations) = self.continue_as_new_after {
            door = door.continue_as_new_after(operations);
        }
        let (ended, stops) = oneshot::channel::<()>();
        let run = async {
            let output = door
                .execute(|door, start| {
                    Box::pin(neuron_workflows::run_of_tree::<Desk, _>(door, start))
                })
                .await;
            drop(ended);
            output
        };
        let below = worker.serve(async {
            stops.await.ok();
        });
        let (output, below) = tokio::join!(run, below);
        below?;
        output?;
        Ok(())
    }
}

impl ClientSession for JournaledSession {
    fn client(&self) -> &Arc<dyn RunClient> {
        &self.client
    }

    async fn execute(&self) -> Result<(), HostError> {
        let journal = self.journal().await?;
        let mut state = self.state();
        state.executing = Some(journal);
        let idle: Vec<_> = state
            .runs
            .iter()
            .filter(|(_, task)| task.is_none())
            .collect();
        let idle: Vec<_> = idle.into_iter().map(|(id, _)| id.clone()).collect();
        for run_id in idle {
            self.start(&mut state, &run_id);
        }
        Ok(())
    }

    async fn kill(&self) -> Result<(), HostError> {
        let tasks: Vec<_> = {
            let mut state = self.state();
            state.executing = None;
            state.runs.values_mut().filter_map(Option::take).collect()
        };
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            // The task was aborted, or was done before.
            task.await.ok();
        }
        self.nothing_executes().await
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        Err("there is no engine".into())
    }

    async fn submit(&self, run_id: &RunId, request: RunRequest) -> Result<(), HostError> {
        self.client.start(run_id, request).await?;
        let mut state = self.state();
        state.runs.insert(run_id.clone(), None);
        self.start(&mut state, run_id);
        Ok(())
    }

    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        Ok(self.journal().await?.segment(run_id).await?)
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        loop {
            if let Some(output) = self.client.output(run_id).await? {
                return Ok(output);
            }
            let broken = Arc::clone(&self.state().broken);
            if let Some(error) = broken.lock().unwrap().get(run_id) {
                return Err(error.clone().into());
            }
            tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
        }
    }
}
