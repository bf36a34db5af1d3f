//! The runs that a journaled run starts: they are executed beside it.

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

/// How often it is looked whether the runs below one that has ended have ended, too.
const PAUSE: Duration = Duration::from_millis(50);

/// What executes the runs below one of a workflow.
pub(crate) struct Below {
    worker: LocalWorker,
    looks: IdleLooks,
    client: Arc<dyn RunClient>,
    run_id: RunId,
}

impl Below {
    /// What does it for this run; `None` if its agent starts no runs.
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

    /// Lets the run go on, and executes those below it meanwhile. When this returns, none of those is under way any more
    /// that goes on without a person; if it is dropped, they end as with their process, and go on with the run.
    ///
    /// # Errors
    ///
    /// The run's own; [`DurableError::Engine`] for what keeps the journal from being read.
    pub(crate) async fn beside(
        self,
        run: impl Future<Output = Result<RunOutput, DurableError>>,
    ) -> Result<RunOutput, DurableError> {
        let (over, is_over) = oneshot::channel();
        let (mut run, mut below) = (pin!(run), pin!(self.serve(is_over)));
        tokio::select! {
            biased;
            output = &mut run => {
                // It is served until then.
                over.send(output.is_ok()).ok();
                below.await?;
                output
            }
            served = &mut below => {
                // Nobody would end the runs that it waits for.
                served?;
                run.await
            }
        }
    }

    /// Executes those below the run in a task of their own, for a run that its caller takes from one thing to the next.
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

    /// Executes those below the run until it is over, and they with it.
    async fn serve(self, is_over: oneshot::Receiver<bool>) -> Result<(), DurableError> {
        let Self {
            worker,
            looks,
            client,
            run_id,
        } = self;
        let served = worker.serve(async {
            // Those below a run that only cannot go on here go on with it.
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
    /// Waits for something of the run, unless nothing executes the runs any more that it may wait for.
    ///
    /// # Errors
    ///
    /// What ended the task.
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

    /// Says that the run is over, and waits until none of those below it is under way that goes on without a person.
    ///
    /// # Errors
    ///
    /// What ended the task.
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

/// Waits until nothing goes on below a run that is over. Those that it cancelled have to learn of it.
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
