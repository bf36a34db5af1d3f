//! A run that executes in this process.

#[cfg(feature = "local")]
use std::sync::Weak;
use std::{future::Future, sync::Arc};

#[cfg(feature = "local")]
use neuron_local::JournaledContext;
use neuron_types::{DurableError, RunId, RunOutput, UserMessage};
use tokio::{
    sync::{mpsc::UnboundedReceiver, watch},
    task::AbortHandle,
};

use super::fan::Fan;
use crate::run::{Queue, RunFailure, RunItem, Way};

type End = Option<Result<RunOutput, Arc<DurableError>>>;

/// A run that executes in a task of this process, until it is dropped.
#[derive(Debug)]
pub(crate) struct Execution {
    run_id: RunId,
    fan: Arc<Fan>,
    end: watch::Receiver<End>,
    /// The door of a journaled run, while it is executed.
    #[cfg(feature = "local")]
    door: Weak<JournaledContext>,
    task: AbortHandle,
}

impl Execution {
    /// Executes a run to its end. The fan is the run's sink.
    pub(crate) fn spawn(
        run_id: RunId,
        fan: Arc<Fan>,
        run: impl Future<Output = Result<RunOutput, DurableError>> + Send + 'static,
    ) -> Self {
        let (report, end) = watch::channel(None);
        let closing = Arc::clone(&fan);
        let task = tokio::spawn(async move {
            let ended = run.await.map_err(Arc::new);
            report.send_replace(Some(ended));
            closing.close();
        });
        Self {
            run_id,
            fan,
            end,
            #[cfg(feature = "local")]
            door: Weak::new(),
            task: task.abort_handle(),
        }
    }

    /// Sets the door of a journaled run.
    #[cfg(feature = "local")]
    pub(crate) fn with_door(mut self, door: Weak<JournaledContext>) -> Self {
        self.door = door;
        self
    }

    #[cfg(feature = "local")]
    pub(crate) fn is_over(&self) -> bool {
        self.end.borrow().is_some()
    }

    /// Waits until the journal contains the events that were emitted, so that questions can be answered at once. A
    /// write error ends the run, which reports it itself.
    #[cfg(feature = "local")]
    pub(crate) async fn flush(&self) {
        if let Some(door) = self.door.upgrade() {
            door.flush().await.ok();
        }
    }

    /// Waits for the run's end.
    pub(crate) async fn end(&self) -> Result<RunOutput, RunFailure> {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        let stuck = |source| RunFailure::Stuck {
            run_id: self.run_id.clone(),
            source,
        };
        match ended {
            Ok(ended) => match &*ended {
                Some(Ok(output)) => Ok(output.clone()),
                Some(Err(error)) => Err(stuck(Arc::clone(error))),
                None => Err(stuck(Arc::new(DurableError::Suspended))),
            },
            // The task panicked, or was stopped with the runtime.
            Err(_) => Err(stuck(Arc::new(DurableError::Suspended))),
        }
    }

    pub(crate) async fn send(&self, text: String) -> Result<(), RunFailure> {
        match self.fan.way() {
            Way::Client(run) => Ok(run.send(text).await?),
            Way::Memory(run) => {
                run.send(&UserMessage { text });
                Ok(())
            }
        }
    }

    pub(crate) async fn cancel(&self, reason: Option<String>) -> Result<(), RunFailure> {
        match self.fan.way() {
            Way::Client(run) => {
                run.cancel(reason).await?;
            }
            Way::Memory(run) => run.cancel(reason),
        }
        Ok(())
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The items of a run of this process.
#[derive(Debug)]
pub(crate) struct Watched {
    live: UnboundedReceiver<RunItem>,
    queue: Queue,
    execution: Arc<Execution>,
}

impl Watched {
    /// Watches a run from now on.
    #[cfg(feature = "local")]
    pub(crate) fn of(execution: Arc<Execution>) -> Self {
        let live = execution.fan.watch();
        Self::with(live, execution)
    }

    /// Watches a run. `live` are the items of its fan from some time on.
    pub(crate) fn with(live: UnboundedReceiver<RunItem>, execution: Arc<Execution>) -> Self {
        Self {
            live,
            queue: Queue::new(execution.fan.way().clone()),
            execution,
        }
    }

    /// Adds the events that happened before, from the run's first on.
    #[cfg(feature = "local")]
    pub(crate) fn add_past(&mut self, events: Vec<neuron_types::RecordedEvent>) {
        for event in events {
            self.queue.add(event);
        }
    }

    pub(crate) async fn next(&mut self) -> Option<RunItem> {
        loop {
            if let Some(item) = self.queue.pop() {
                #[cfg(feature = "local")]
                if matches!(item, RunItem::Ticket(_)) {
                    self.execution.flush().await;
                }
                return Some(item);
            }
            match self.live.recv().await? {
                RunItem::Event(event) => self.queue.add(event),
                item => return Some(item),
            }
        }
    }

    pub(crate) async fn end(&self) -> Result<RunOutput, RunFailure> {
        self.execution.end().await
    }

    pub(crate) const fn execution(&self) -> &Arc<Execution> {
        &self.execution
    }
}
