//! The journaled door as a host.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use neuron_runtime::{Executor, Journal, JournalError, JournaledContext};
use neuron_types::{
    Decision, RecordedEvent, Refusal, RunId, RunInput, RunOutput, RunStatus, UserMessage,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::{Host, HostError, Session, World};

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Executes runs through [`JournaledContext`], in this process and in a journal of the session's own.
///
/// Killing it drops the futures that execute, with their doors and the journal. Executing again opens all of
/// them anew.
#[derive(Debug, Clone, Default)]
pub struct JournaledHost {
    roll_over_after: Option<u64>,
}

/// A session of [`JournaledHost`].
#[derive(Debug)]
pub struct JournaledSession {
    host: JournaledHost,
    executor: Executor,
    home: TempDir,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The journal of the executing side, while there is one.
    executing: Option<Journal>,
    runs: BTreeMap<RunId, Option<JoinHandle<()>>>,
    /// What kept a run from going on.
    broken: Arc<Mutex<BTreeMap<RunId, String>>>,
}

impl Host for JournaledHost {
    type Session = JournaledSession;
    const SURVIVES: bool = true;
    const HAS_ENGINE: bool = false;
    const ROLLS_OVER: bool = true;

    fn rolling_over_after(&self, events: u64) -> Self {
        Self {
            roll_over_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<JournaledSession, HostError> {
        Ok(JournaledSession {
            host: self.clone(),
            executor: world.executor(),
            home: TempDir::new()?,
            state: Mutex::default(),
        })
    }
}

impl JournaledSession {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal as another process has it.
    async fn journal(&self) -> Result<Journal, JournalError> {
        Journal::open(self.home.path()).await
    }

    fn start(&self, state: &mut State, run_id: &RunId) {
        let Some(journal) = state.executing.clone() else {
            return;
        };
        let (host, executor) = (self.host.clone(), self.executor.clone());
        let run_id = run_id.clone();
        let (id, broken) = (run_id.clone(), Arc::clone(&state.broken));
        let task = tokio::spawn(async move {
            if let Err(error) = host.execute(&journal, &run_id, executor).await {
                broken.lock().unwrap().insert(run_id, error.to_string());
            }
        });
        state.runs.insert(id, Some(task));
    }
}

impl JournaledHost {
    /// Takes a run up, and executes it to its end.
    async fn execute(
        &self,
        journal: &Journal,
        run_id: &RunId,
        executor: Executor,
    ) -> Result<(), HostError> {
        let mut door = loop {
            match JournaledContext::open(journal, run_id, executor.clone()).await {
                // What was killed is still being written to the disk.
                Err(JournalError::Executing { .. }) => tokio::time::sleep(BETWEEN_LOOKS).await,
                Err(JournalError::Refused(Refusal::RunOver { .. })) => return Ok(()),
                opened => break opened?,
            }
        };
        if let Some(operations) = self.roll_over_after {
            door = door.roll_over_after(operations);
        }
        let output = neuron_workflows::agent(&door, door.start().await?).await?;
        Ok(door.finish(&output).await?)
    }
}

impl Session for JournaledSession {
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
            // It was aborted, or was done before.
            task.await.ok();
        }
        Ok(())
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        Err("there is no engine".into())
    }

    async fn submit(&self, run_id: &RunId, input: RunInput) -> Result<(), HostError> {
        let journal = self.journal().await?;
        journal.create_run(run_id, &input, "local").await?;
        let mut state = self.state();
        state.runs.insert(run_id.clone(), None);
        self.start(&mut state, run_id);
        Ok(())
    }

    async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), HostError> {
        let decided = self.journal().await?.decide(run_id, decision).await;
        decided.map_err(|error| match error {
            JournalError::Refused(refusal) => HostError::Refused(refusal.to_string()),
            error => error.into(),
        })
    }

    async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), HostError> {
        Ok(self.journal().await?.send(run_id, message).await?)
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        let journal = self.journal().await?;
        Ok(journal.signal(run_id, name, payload).await?)
    }

    async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), HostError> {
        let outcome = self.journal().await?.cancel(run_id, reason).await;
        Ok(outcome.map(drop)?)
    }

    async fn status(&self, run_id: &RunId) -> Result<RunStatus, HostError> {
        Ok(self.journal().await?.status(run_id).await?)
    }

    async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, HostError> {
        Ok(self.journal().await?.events(run_id, 0).await?)
    }

    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        Ok(self.journal().await?.chapter(run_id).await?)
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        let journal = self.journal().await?;
        loop {
            if let Some(output) = journal.output(run_id).await? {
                return Ok(output);
            }
            let broken = Arc::clone(&self.state().broken);
            if let Some(error) = broken.lock().unwrap().get(run_id) {
                return Err(error.clone().into());
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }
}
