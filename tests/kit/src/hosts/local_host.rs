//! The plain local door as a host.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use neuron_executor::{EventSink, Executor, RetryNotice};
use neuron_local::{LocalDurableContext, LocalHandle, MemoryWorkflow};
use neuron_types::{
    Decision, DurableError, Place, RecordedEvent, RunEvent, RunId, RunOutput, RunRequest, RunStart,
    RunStatus, UserMessage,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::{Desk, Host, HostError, Session, World};

const BETWEEN_LOOKS: Duration = Duration::from_millis(5); // Between two looks.

type Execute = Arc<
    dyn Fn(LocalDurableContext, RunStart) -> BoxFuture<'static, Result<RunOutput, DurableError>>
        + Send
        + Sync,
>;

/// Executes runs through [`LocalDurableContext`], in this process and in memory.
#[derive(Clone)]
pub struct LocalHost {
    execute: Execute,
}

impl LocalHost {
    /// Returns a host that executes its runs with this function: with another workflow, or through a door around the
    /// one that it gets.
    pub fn executing<F, Fut>(execute: F) -> Self
    where
        F: Fn(LocalDurableContext, RunStart) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<RunOutput, DurableError>> + Send + 'static,
    {
        Self {
            execute: Arc::new(move |door, start| Box::pin(execute(door, start))),
        }
    }
}

impl Default for LocalHost {
    /// Returns a host that executes agents, and the workflow [`Desk`].
    fn default() -> Self {
        Self::executing(|door, start| async move {
            let agent: MemoryWorkflow =
                |door, start| Box::pin(neuron_workflows::run_of_tree::<Desk, _>(door, start));
            door.execute(start, agent).await
        })
    }
}

impl fmt::Debug for LocalHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHost").finish_non_exhaustive()
    }
}

/// A session of [`LocalHost`].
#[derive(Debug)]
pub struct LocalSession {
    host: LocalHost,
    world: World,
    executor: Executor,
    is_executing: AtomicBool,
    runs: Mutex<BTreeMap<RunId, LocalRun>>,
    /// The runs that other runs started.
    below: Arc<Mutex<BTreeMap<RunId, Below>>>,
}

/// A run that another one has started.
#[derive(Debug, Clone)]
struct Below {
    handle: LocalHandle,
    events: Arc<Events>,
}

#[derive(Debug)]
struct LocalRun {
    handle: LocalHandle,
    events: Arc<Events>,
    agent: String,
    outcome: watch::Receiver<Option<Result<RunOutput, String>>>,
    /// The means to execute it, until it is executed.
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    door: LocalDurableContext,
    start: RunStart,
    outcome: watch::Sender<Option<Result<RunOutput, String>>>,
}

/// The events of a run as they arrive.
#[derive(Debug, Default)]
pub(crate) struct Events(Mutex<Vec<RecordedEvent>>);

impl Events {
    pub(crate) fn all(&self) -> Vec<RecordedEvent> {
        self.0.lock().unwrap().clone()
    }
}

impl EventSink for Events {
    fn event(&self, event: &RecordedEvent) {
        self.0.lock().unwrap().push(event.clone());
    }

    fn retry(&self, _: &RetryNotice) {}
}

impl Host for LocalHost {
    type Session = LocalSession;
    const SURVIVES: bool = false;
    const HAS_ENGINE: bool = false;
    const ROLLS_OVER: bool = false;

    fn rolling_over_after(&self, _events: u64) -> Self {
        self.clone()
    }

    async fn open(&self, world: &World) -> Result<LocalSession, HostError> {
        Ok(LocalSession {
            host: self.clone(),
            world: world.clone(),
            executor: world.executor(),
            is_executing: AtomicBool::new(false),
            runs: Mutex::default(),
            below: Arc::default(),
        })
    }
}

impl Waiting {
    fn execute(self, host: &LocalHost) {
        let Self {
            door,
            start,
            outcome,
        } = self;
        let run = (host.execute)(door, start);
        tokio::spawn(async move {
            let output = run.await;
            outcome.send_replace(Some(output.map_err(|error| error.to_string())));
        });
    }
}

impl LocalSession {
    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, LocalRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn below(&self, id: &RunId) -> Option<Below> {
        self.below.lock().unwrap().get(id).cloned()
    }

    fn handle(&self, id: &RunId) -> Result<LocalHandle, HostError> {
        match self.below(id) {
            Some(below) => Ok(below.handle),
            None => self.of_run(id, |run| run.handle.clone()),
        }
    }

    fn of_run<T>(&self, id: &RunId, work: impl FnOnce(&mut LocalRun) -> T) -> Result<T, HostError> {
        let mut runs = self.runs();
        let run = runs.get_mut(id).ok_or_else(|| format!("no run {id}"))?;
        Ok(work(run))
    }
}

impl Session for LocalSession {
    async fn execute(&self) -> Result<(), HostError> {
        self.is_executing.store(true, Ordering::SeqCst);
        for run in self.runs().values_mut() {
            if let Some(waiting) = run.waiting.take() {
                waiting.execute(&self.host);
            }
        }
        Ok(())
    }

    async fn kill(&self) -> Result<(), HostError> {
        Err("runs in memory do not survive".into())
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        Err("there is no engine".into())
    }

    fn place(&self) -> Place {
        Place::Memory
    }

    async fn submit(&self, run_id: &RunId, request: RunRequest) -> Result<(), HostError> {
        let agent = request.agent.name().to_owned();
        let events = Arc::new(Events::default());
        let agents = self.world.agents();
        let executor = self.executor.clone();
        let executor = executor.with_definitions(agents.definitions().cloned());
        let door = LocalDurableContext::new(executor, run_id.clone())
            .with_sink(Arc::clone(&events) as Arc<dyn EventSink>);
        let below = Arc::clone(&self.below);
        let door = door.with_runs_below(move |run, handle| {
            let (handle, events) = (handle.clone(), Arc::<Events>::default());
            let sink: Arc<dyn EventSink> = events.clone();
            below
                .lock()
                .unwrap()
                .insert(run.clone(), Below { handle, events });
            sink
        });
        let (outcome, end) = watch::channel(None);
        let mut run = LocalRun {
            handle: door.handle(),
            events,
            agent,
            outcome: end,
            waiting: None,
        };
        let waiting = Waiting {
            door,
            start: RunStart::request(request),
            outcome,
        };
        if self.is_executing.load(Ordering::SeqCst) {
            waiting.execute(&self.host);
        } else {
            run.waiting = Some(waiting);
        }
        self.runs().insert(run_id.clone(), run);
        Ok(())
    }

    async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), HostError> {
        Ok(self.handle(run_id)?.decide(decision)?)
    }

    async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), HostError> {
        self.handle(run_id)?.send(message);
        Ok(())
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        self.handle(run_id)?.signal(name, payload);
        Ok(())
    }

    async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), HostError> {
        self.handle(run_id)?.cancel(reason);
        Ok(())
    }

    async fn status(&self, run_id: &RunId) -> Result<RunStatus, HostError> {
        let events = self.events(run_id).await?;
        let first = events.first().ok_or("the run has not started")?;
        let agent = match (self.below(run_id), &first.event) {
            (Some(_), RunEvent::RunStarted { agent, .. }) => agent.clone(),
            (Some(_), _) => String::new(),
            (None, _) => self.of_run(run_id, |run| run.agent.clone())?,
        };
        let mut status = RunStatus::new(run_id.clone(), "local", &agent, first.at);
        for event in &events {
            status.apply(&event.event, event.at);
        }
        Ok(status)
    }

    async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, HostError> {
        match self.below(run_id) {
            Some(below) => Ok(below.events.all()),
            None => self.of_run(run_id, |run| run.events.all()),
        }
    }

    async fn histories(&self, _run_id: &RunId) -> Result<u64, HostError> {
        Ok(1)
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        if self.below(run_id).is_some() {
            loop {
                let ended = self.events(run_id).await?.pop();
                if let Some(RunEvent::RunEnded { exit_reason, .. }) = ended.map(|it| it.event) {
                    let status = self.status(run_id).await?;
                    return Ok(status.output(Some(exit_reason)));
                }
                tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
            }
        }
        let mut outcome = self.of_run(run_id, |run| run.outcome.clone())?;
        let ended = outcome.wait_for(Option::is_some).await?;
        match ended.as_ref() {
            Some(Ok(output)) => Ok(output.clone()),
            Some(Err(error)) => Err(error.clone().into()),
            None => Err("the run has no outcome".into()),
        }
    }
}
