//! Asks on the spot about the tickets of the runs below one, while all of them continue.

use std::{collections::BTreeMap, fmt, future::pending, sync::Arc};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use neuron_engine::{RunClient, RunHandle};
use neuron_executor::{EventSink, RetryNotice};
use neuron_local::IdleLooks;
use neuron_types::{RecordedEvent, RunEvent, RunId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    CliError, decisions::decider::Decider, questions::asker::Asker, session::Session,
    terminal::progress::Progress,
};

/// A message about a run below.
#[derive(Debug)]
enum Told {
    /// A process executes the run, perhaps again.
    TakenUp(RunId),
    Event(RunId, Box<RunEvent>),
}

/// Receives what happens in the runs below one.
#[derive(Debug, Clone)]
pub(crate) struct Ear(UnboundedSender<Told>);

impl Ear {
    /// Returns the sink of a run whose execution begins.
    pub(crate) fn sink(&self, run_id: &RunId) -> Arc<dyn EventSink> {
        self.tell(Told::TakenUp(run_id.clone()));
        Arc::new(Sink {
            run_id: run_id.clone(),
            ear: self.clone(),
        })
    }

    fn tell(&self, told: Told) {
        // The receiver is gone when the run at the top has ended.
        self.0.send(told).ok();
    }
}

struct Sink {
    run_id: RunId,
    ear: Ear,
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sink").field(&self.run_id).finish()
    }
}

impl EventSink for Sink {
    fn event(&self, recorded: &RecordedEvent) {
        let event = Box::new(recorded.event.clone());
        self.ear.tell(Told::Event(self.run_id.clone(), event));
    }

    fn retry(&self, _: &RetryNotice) {}
}

/// Puts each ticket of the runs below to the person at the terminal.
#[derive(Debug)]
pub(crate) struct BelowAsker {
    session: Session,
    client: Arc<dyn RunClient>,
    progress: Arc<Progress>,
    looks: IdleLooks,
    told: UnboundedReceiver<Told>,
    /// The receivers of the events of the runs that are asked about.
    runs: BTreeMap<RunId, UnboundedSender<RunEvent>>,
}

impl BelowAsker {
    /// Asks about the runs that the worker with these looks executes: those that the ear reports.
    pub(crate) fn new(
        session: &Session,
        client: Arc<dyn RunClient>,
        progress: Arc<Progress>,
        looks: IdleLooks,
    ) -> (Ear, Self) {
        let (ear, told) = unbounded_channel();
        let asker = Self {
            session: session.clone(),
            client,
            progress,
            looks,
            told,
            runs: BTreeMap::new(),
        };
        (Ear(ear), asker)
    }

    /// Asks for as long as the runs continue: never ends.
    ///
    /// # Errors
    ///
    /// [`CliError::Terminal`], and errors that prevent questions about a run.
    pub(crate) async fn ask(mut self) -> Result<(), CliError> {
        let mut asking = FuturesUnordered::new();
        loop {
            tokio::select! {
                told = self.told.recv() => match told {
                    Some(told) => asking.extend(self.hear(told).await?),
                    None => pending().await,
                },
                Some(ended) = asking.next(), if !asking.is_empty() => ended?,
            }
        }
    }

    /// Takes in a message, and returns the asker of a run that was not known.
    async fn hear(
        &mut self,
        told: Told,
    ) -> Result<Option<BoxFuture<'static, Result<(), CliError>>>, CliError> {
        match told {
            Told::TakenUp(run_id) if self.runs.contains_key(&run_id) => Ok(None),
            Told::TakenUp(run_id) => {
                // The tree stays busy until it is known what the run asks.
                let _busy = self.looks.busy();
                let run = RunHandle::new(Arc::clone(&self.client), run_id.clone());
                let status = run.status().await?;
                let decider = Decider::of(&self.session, &run, &status)?;
                let (events, of_run) = unbounded_channel();
                let progress = Arc::clone(&self.progress);
                let asker = Asker::new(run, &status, decider, progress, of_run);
                self.runs.insert(run_id, events);
                let asker = asker.in_tree(&self.looks).naming(&status.agent);
                Ok(Some(Box::pin(asker.ask())))
            }
            Told::Event(run_id, event) => {
                let is_over = matches!(*event, RunEvent::RunEnded { .. });
                if let Some(events) = self.runs.get(&run_id) {
                    events.send(*event).ok();
                }
                if is_over {
                    self.runs.remove(&run_id);
                }
                Ok(None)
            }
        }
    }
}
