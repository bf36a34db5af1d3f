//! A worker of the runs in a journal, in a task of its own.

use std::{collections::BTreeMap, future::Future, path::Path, pin::Pin, sync::Arc};

use neuron_engine::RunClient;
use neuron_executor::{Agents, Executors};
use neuron_local::{
    ExecutorSource, Journal, JournalError, LocalClient, LocalWorker, NotServed, RunExecutor,
    WaitingRun, WorkerCounts, WorkerEvent,
};
use tokio::{sync::watch, task::JoinHandle};

use super::{WorkerFailure, shared::Shared};
use crate::{
    agent::{Parts, Serving},
    local::directory::elsewhere,
};

/// A worker of the runs in a journal. It stops when it is dropped.
pub(super) struct LocalTask {
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<Result<(), JournalError>>>,
}

impl LocalTask {
    /// Opens the journal and starts the worker. Returns the client of its runs, too.
    pub(super) async fn spawn(
        home: &Path,
        shared: Shared,
        max_runs: Option<usize>,
        counts: WorkerCounts,
    ) -> Result<(Self, Arc<dyn RunClient>), WorkerFailure> {
        let served = shared.agents;
        let (agents, mut executors) = Parts::served(&served)?;
        let journal = Journal::open(home).await?;
        neuron_sandbox::hide(journal.home());
        // Whatever definition a run carries, it may do no more than its agent.
        executors = executors.granting(&agents);
        if let Some(sessions) = &shared.sessions {
            executors = executors.with_sessions(sessions);
        }
        let workflows = served.iter().filter_map(|agent| {
            let serving = agent.serving?;
            Some((agent.spec.name.clone(), serving))
        });
        let source = Served {
            agents,
            executors,
            workflows: workflows.collect(),
        };
        let mut worker = LocalWorker::builder(journal.clone(), source, |door, start| {
            Box::pin(neuron_workflows::agent(door, start))
        })
        .reporter(move |event| {
            counts.count(event);
            log(event);
        });
        if let Some(runs) = max_runs {
            worker = worker.max_runs(runs);
        }
        if let Some(grace) = shared.grace {
            worker = worker.grace(grace);
        }
        if let Some(sink) = shared.sink {
            worker = worker.sinks(move |_| Arc::clone(&sink));
        }
        let worker = worker.build();
        let (stop, mut stopped) = watch::channel(false);
        let life = shared.life;
        let task = tokio::spawn(async move {
            let stop = life.note(async move {
                // An error means that the worker was dropped.
                drop(stopped.wait_for(|stopped| *stopped).await);
            });
            let ended = life.of(worker.serve(stop)).await;
            // The agents own what their tools need.
            drop(served);
            ended
        });
        let worker = Self {
            stop,
            task: Some(task),
        };
        Ok((worker, Arc::new(LocalClient::from(journal))))
    }

    /// Ends the worker without waiting for calls in flight.
    pub(super) fn abort(&self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }

    /// Stops the worker, and waits for its end.
    pub(super) async fn stop(&mut self) -> Result<(), WorkerFailure> {
        self.stop.send_replace(true);
        self.wait().await
    }

    /// Waits until the worker ends by itself.
    pub(super) async fn wait(&mut self) -> Result<(), WorkerFailure> {
        let Some(task) = &mut self.task else {
            return Ok(());
        };
        let ended = task.await;
        self.task = None;
        Ok(ended??)
    }
}

impl Drop for LocalTask {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Logs why a run does not continue here.
fn log(event: &WorkerEvent) {
    match event {
        WorkerEvent::Left { run_id, reason } => {
            tracing::warn!(%run_id, "a run is left to other workers: {reason}");
        }
        WorkerEvent::Stuck { run_id, reason } => {
            tracing::error!(%run_id, "a run cannot continue here: {reason}");
        }
        _ => {}
    }
}

/// The agents of a worker, each with its workflow if it has one.
struct Served {
    agents: Agents,
    executors: Executors,
    workflows: BTreeMap<String, Serving>,
}

impl Served {
    fn of(&self, run: &WaitingRun) -> Result<RunExecutor, NotServed> {
        let name = run.agent.name();
        let executor = self.executors.of(name);
        let executor = executor.map_err(|lacking| NotServed::new(lacking.message))?;
        if let Some(reason) = elsewhere(run.directory.as_deref(), &executor) {
            return Err(NotServed::new(reason));
        }
        let found = RunExecutor::new(executor, self.agents.clone());
        Ok(match self.workflows.get(name) {
            Some(serving) => found.with_workflow(serving.journal, serving.patches),
            None => found,
        })
    }
}

impl ExecutorSource for Served {
    fn executor<'a>(
        &'a self,
        run: &'a WaitingRun,
    ) -> Pin<Box<dyn Future<Output = Result<RunExecutor, NotServed>> + Send + 'a>> {
        Box::pin(std::future::ready(self.of(run)))
    }
}
