//! The runs that a journaled run starts: this process executes them beside it.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use neuron_engine::RunClient;
use neuron_local::{IdleLooks, Journal, LocalWorker};
use neuron_types::{DurableError, RunId, RunOutput, RunStatus};
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
    time::sleep,
};

use crate::agent::Parts;

/// How many runs are executed at once, at least.
const RUNS: u32 = 8;

/// How often to check whether the runs below an ended run have ended, too.
const PAUSE: Duration = Duration::from_millis(50);

/// Executes the runs below a run.
pub(crate) struct Below {
    worker: LocalWorker,
    looks: IdleLooks,
    client: Arc<dyn RunClient>,
    run_id: RunId,
}

impl Below {
    /// Returns the executor of the runs below this run; `None` if its agent starts no runs.
    pub(crate) fn of(
        journal: &Journal,
        client: &Arc<dyn RunClient>,
        agent: &Parts,
        run_id: &RunId,
    ) -> Option<Self> {
        let (agents, executors) = agent.served_below()?;
        let runs = agent.spec.max_children.max(RUNS);
        let worker = LocalWorker::builder(
            journal.clone(),
            (executors, agents),
            agent.journal_workflow(),
        )
        .below(run_id)
        .max_runs(usize::try_from(runs).unwrap_or(usize::MAX));
        Some(Self {
            looks: worker.idle_looks(),
            worker: worker.build(),
            client: Arc::clone(client),
            run_id: run_id.clone(),
        })
    }

    /// Executes the run, and those below it at the same time. When this returns, no run below is in progress here any
    /// more, except runs that wait for a person. If the future is dropped, the runs below end as they would with their
    /// process, and resume with the run.
    ///
    /// # Errors
    ///
    /// The errors of the run; [`DurableError::Engine`] if the journal cannot be read.
    pub(crate) async fn beside(
        self,
        run: impl Future<Output = Result<RunOutput, DurableError>>,
    ) -> Result<RunOutput, DurableError> {
        let (over, is_over) = oneshot::channel();
        let (mut run, mut below) = (pin!(run), pin!(self.serve(is_over)));
        tokio::select! {
            biased;
            output = &mut run => {
                // The runs below are served until then.
                over.send(output.is_ok()).ok();
                below.await?;
                output
            }
            served = &mut below => {
                // The run would wait for runs that are never executed.
                served?;
                run.await
            }
        }
    }

    /// Executes the runs below the run in a separate task, for a run that its caller executes step by step.
    pub(crate) fn spawn(self) -> BelowTask {
        let (over, is_over) = oneshot::channel();
        let (report, end) = watch::channel(None);
        let task = tokio::spawn(async move {
            let served = self.serve(is_over).await.map_err(Arc::new);
            report.send_replace(Some(served));
        });
        BelowTask {
            over: Some(over),
            end,
            task: task.abort_handle(),
        }
    }

    /// Executes the runs below the run until it and they are over.
    async fn serve(self, is_over: oneshot::Receiver<bool>) -> Result<(), DurableError> {
        let Self {
            worker,
            looks,
            client,
            run_id,
        } = self;
        let served = worker.serve(async {
            // If the run only cannot continue here, those below it resume with it.
            if is_over.await.unwrap_or(false) {
                ended(&*client, &run_id, &looks).await;
            }
        });
        served.await.map_err(DurableError::engine)
    }
}

/// A task that executes the runs below one, until it is dropped.
pub(crate) struct BelowTask {
    over: Option<oneshot::Sender<bool>>,
    end: watch::Receiver<Option<Result<(), Arc<DurableError>>>>,
    task: AbortHandle,
}

impl BelowTask {
    /// Waits for a future of the run, unless the task that executes the runs below ends before.
    ///
    /// # Errors
    ///
    /// The error that ended the task.
    pub(crate) async fn beside<T>(
        &self,
        run: impl Future<Output = T>,
    ) -> Result<T, Arc<DurableError>> {
        tokio::select! {
            biased;
            done = run => Ok(done),
            ended = self.ended() => Err(ended.err().unwrap_or_else(|| Arc::new(DurableError::Suspended))),
        }
    }

    /// Reports that the run is over, and waits until the runs below it are over or wait for a person.
    ///
    /// # Errors
    ///
    /// The error that ended the task.
    pub(crate) async fn end(&mut self) -> Result<(), Arc<DurableError>> {
        if let Some(over) = self.over.take() {
            over.send(true).ok();
        }
        self.ended().await
    }

    async fn ended(&self) -> Result<(), Arc<DurableError>> {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(ended)) => ended.clone(),
            // The task panicked, or was stopped with the runtime.
            _ => Err(Arc::new(DurableError::Suspended)),
        }
    }
}

impl Drop for BelowTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits until nothing is in progress below a run that is over. Runs that it cancelled have to learn of that.
async fn ended(client: &dyn RunClient, run_id: &RunId, looks: &IdleLooks) {
    let status = client.status(run_id).await;
    let is_open = |status: &RunStatus| {
        let mut children = status.children.iter();
        children.any(|child| !child.state.is_final())
    };
    if status.is_ok_and(|status| !is_open(&status)) {
        return;
    }
    // The first look that is counted may have begun before.
    let enough = looks.count().saturating_add(2);
    while looks.count() < enough {
        sleep(PAUSE).await;
    }
}
