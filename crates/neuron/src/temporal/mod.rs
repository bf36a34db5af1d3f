//! Runs on Temporal: a worker that serves agents, and a client that starts their runs.
//!
//! The rest is in [`sdk`], the crate `neuron-temporal`.

mod replay;

use std::{fmt, io, sync::Arc, thread, time::Duration};

use neuron_engine::{Life, RunClient, RunClientError};
use neuron_executor::{EventSink, Sessions};
use neuron_local::StoredSessions;
pub use neuron_temporal as sdk;
use neuron_temporal::{
    AgentClient, AgentWorker, AgentWorkerBuilder, AgentWorkflow, TemporalDurableContext,
    WorkerError, WorkerHealth,
};
use neuron_types::{DurableError, RunId, RunOutput, RunRequest, RunStart};
use neuron_workflows::Workflow;
use tokio::sync::{oneshot, watch};

use crate::{
    Agent, AgentError, Runs,
    agent::Parts,
    place::{Engine, StartFuture, start_elsewhere},
    remote::RemoteAgent,
    run::{Run, RunFailure},
    worker::Shared,
};

pub use replay::{Replay, ReplayError, replay_agents, replay_workflow};

/// How long a worker retries its reports while the server is away: as long as a write may be silent.
const REPORTS: Duration = Duration::from_secs(90);

/// The workflow of an agent's run, as Temporal knows it.
struct AgentRun;

impl AgentWorkflow for AgentRun {
    const NAME: &'static str = "agent";

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, start).await
    }
}

/// A client of the runs on a Temporal server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    client: AgentClient,
}

impl Client {
    /// Connects to the server and namespace that the environment and `temporal.toml` name, as Temporal's own tools do.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`], or the error in these settings.
    pub async fn connect() -> Result<Self, RunClientError> {
        Ok(Self {
            client: AgentClient::connect().await?,
        })
    }

    /// Connects to this server, `host:port` or a URL, and namespace.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`].
    pub async fn connect_to(address: &str, namespace: &str) -> Result<Self, RunClientError> {
        Ok(Self {
            client: AgentClient::connect_to(address, namespace).await?,
        })
    }

    /// Sets the task queue that runs are started on. Default is `neuron`.
    #[must_use]
    pub fn task_queue(self, name: impl Into<String>) -> Self {
        Self {
            client: self.client.with_task_queue(name),
        }
    }

    /// Returns the agent of this name, of a worker in any process. `I` is the input of its runs, and `O` their output.
    #[must_use]
    pub fn agent<I: ?Sized, O>(&self, name: impl Into<String>) -> RemoteAgent<I, O> {
        RemoteAgent::new(self.runs(), name)
    }

    /// Returns a workflow of a program, of a worker in any process.
    #[must_use]
    pub fn workflow<W: Workflow>(&self) -> RemoteAgent<W::Input, W::Output> {
        RemoteAgent::new(self.runs_of(W::TEMPORAL_TYPE), W::NAME)
    }

    /// Starts a run of a workflow of a program, or attaches to the run of this id if that was started with the same
    /// input: see [`RemoteAgent::start`].
    ///
    /// # Errors
    ///
    /// The errors of [`RemoteAgent::start`].
    pub async fn start_workflow<W: Workflow>(
        &self,
        run_id: &str,
        input: &W::Input,
    ) -> Result<Run<W::Output>, RunFailure> {
        self.workflow::<W>().start(run_id, input).await
    }

    /// Returns the runs, with those of these workflows by their names.
    pub(crate) fn runs_with(&self, served: &[Arc<Parts>]) -> Runs {
        let workflows = served.iter().filter_map(|agent| {
            let serving = agent.serving?;
            let client = self.runs_of(serving.temporal_type);
            Some((agent.spec.name.clone(), client))
        });
        Runs::from(self.clone()).with_workflows(workflows.collect())
    }

    fn runs_of(&self, workflow: &str) -> Arc<dyn RunClient> {
        Arc::new(self.client.clone().with_workflow(workflow))
    }

    /// Returns the client that is the same for every engine.
    #[must_use]
    pub fn runs(&self) -> Arc<dyn RunClient> {
        Arc::new(self.client.clone())
    }
}

impl From<Client> for Runs {
    fn from(client: Client) -> Self {
        Self::new(client.runs(), client)
    }
}

impl From<AgentClient> for Client {
    fn from(client: AgentClient) -> Self {
        Self { client }
    }
}

impl Engine for Client {
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        let runs = match agent.serving {
            Some(serving) => self.runs_of(serving.temporal_type),
            None => self.runs(),
        };
        Box::pin(start_elsewhere(runs, run_id, request))
    }

    fn client_of_workflow(&self, temporal_type: &str) -> Option<Arc<dyn RunClient>> {
        Some(self.runs_of(temporal_type))
    }
}

/// The builder of a worker that serves agents, made by [`Worker::builder`].
#[must_use]
pub struct WorkerBuilder {
    address: Option<(String, String)>,
    agents: Vec<Arc<Parts>>,
    settings: Vec<Setting>,
    sessions: Option<Arc<dyn Sessions>>,
    life: Life,
    health: Option<WorkerHealth>,
}

type Setting = Box<dyn FnOnce(AgentWorkerBuilder) -> AgentWorkerBuilder + Send>;

/// A worker that serves agents in a thread of its own, since Temporal's workflows are bound to one. It stops with
/// [`stop`](Self::stop), or when it is dropped.
pub struct Worker {
    stop: watch::Sender<bool>,
    ended: Option<oneshot::Receiver<Result<(), WorkerFailure>>>,
}

/// Why a worker does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerFailure {
    /// The server cannot be reached.
    #[error(transparent)]
    Client(#[from] RunClientError),
    /// The worker could not be made, or ended by itself.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The worker's agents cannot be served together.
    #[error(transparent)]
    Agents(#[from] AgentError),
    /// The worker's thread could not be started, or is gone.
    #[error("the worker's thread cannot be started, or is gone")]
    Thread(#[source] Option<io::Error>),
}

impl Worker {
    /// Starts building a worker.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder {
            address: None,
            agents: Vec::new(),
            settings: Vec::new(),
            sessions: None,
            life: Life::default(),
            health: None,
        }
    }

    /// Takes no new steps, lets those in flight end, and returns when the worker has stopped.
    ///
    /// # Errors
    ///
    /// The error with which the worker ended.
    pub async fn stop(mut self) -> Result<(), WorkerFailure> {
        self.stop.send_replace(true);
        self.wait().await
    }

    /// Waits until the worker ends by itself.
    ///
    /// # Errors
    ///
    /// The error with which the worker ended.
    pub async fn wait(&mut self) -> Result<(), WorkerFailure> {
        let Some(ended) = &mut self.ended else {
            return Ok(());
        };
        // A caller may stop waiting and wait again.
        let result = ended.await;
        self.ended = None;
        result.unwrap_or(Err(WorkerFailure::Thread(None)))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl WorkerBuilder {
    /// Sets the server, `host:port` or a URL, and the namespace. Default is the server that the environment and
    /// `temporal.toml` name.
    pub fn server(mut self, address: impl Into<String>, namespace: impl Into<String>) -> Self {
        self.address = Some((address.into(), namespace.into()));
        self
    }

    /// Sets the task queue. Default is `neuron`.
    pub fn task_queue(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.with(move |builder| builder.task_queue(name))
    }

    /// Sets what a worker has on every engine.
    pub(crate) fn set_up(mut self, shared: Shared) -> Self {
        self.agents = shared.agents;
        self.sessions = shared.sessions;
        self.life = shared.life;
        let mut builder = self.accept_definitions(shared.accept_definitions);
        if let Some(sink) = shared.sink {
            builder = builder.sink(sink);
        }
        if let Some(period) = shared.grace {
            builder = builder.grace(period);
        }
        builder
    }

    /// Has this show that the server was reached.
    pub(crate) fn reached(mut self, health: WorkerHealth) -> Self {
        self.health = Some(health);
        self
    }

    /// Returns the server and namespace that were set.
    pub(crate) fn address(&self) -> Option<(&str, &str)> {
        let (address, namespace) = self.address.as_ref()?;
        Some((address, namespace))
    }

    /// Serves this agent, or workflow of the program: runs that name it are its runs.
    pub fn agent<I: ?Sized, O>(mut self, agent: &Agent<I, O>) -> Self {
        self.agents.push(Arc::clone(agent.parts()));
        self
    }

    /// Sets the sessions that runs continue which [name one](neuron_types::RunRequest::session). Default is no
    /// sessions: such a run fails.
    pub fn sessions(mut self, sessions: StoredSessions) -> Self {
        self.sessions = Some(Arc::new(sessions));
        self
    }

    /// Sets the watcher of the runs. Default is no watcher.
    pub fn sink(self, sink: Arc<dyn EventSink>) -> Self {
        self.with(move |builder| builder.sink(sink))
    }

    /// Sets how long steps in flight may take when the worker stops. Default is 25 s.
    pub fn grace(self, period: Duration) -> Self {
        self.with(move |builder| builder.grace(period))
    }

    /// Accepts whole definitions of agents from callers too, and not only names: for development. Default is `false`.
    pub fn accept_definitions(self, accept: bool) -> Self {
        self.with(move |builder| builder.accept_definitions(accept))
    }

    /// Changes a setting that this builder has no setter for.
    pub fn with(
        mut self,
        setting: impl FnOnce(AgentWorkerBuilder) -> AgentWorkerBuilder + Send + 'static,
    ) -> Self {
        self.settings.push(Box::new(setting));
        self
    }

    /// Starts the worker, and returns when the server was reached and the worker exists.
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`].
    pub async fn spawn(self) -> Result<Worker, WorkerFailure> {
        let (stop, stopped) = watch::channel(false);
        let (report, ended) = oneshot::channel();
        let (ready, is_ready) = oneshot::channel();
        thread::Builder::new()
            .name("neuron-temporal".to_owned())
            .spawn(move || {
                // This thread executes workflows, and others make calls.
                let runtime = match tokio::runtime::Builder::new_multi_thread()
                    .enable_all()
                    .build()
                {
                    Ok(runtime) => runtime,
                    Err(error) => {
                        // If the results are not received, no task waits for them any more.
                        drop(ready.send(Err(WorkerFailure::Thread(Some(error)))));
                        return;
                    }
                };
                let served = runtime.block_on(self.serve(ready, stopped));
                drop(report.send(served));
            })
            .map_err(|error| WorkerFailure::Thread(Some(error)))?;
        is_ready.await.unwrap_or(Err(WorkerFailure::Thread(None)))?;
        Ok(Worker {
            stop,
            ended: Some(ended),
        })
    }

    async fn serve(
        self,
        ready: oneshot::Sender<Result<(), WorkerFailure>>,
        mut stopped: watch::Receiver<bool>,
    ) -> Result<(), WorkerFailure> {
        // The agents own what their tools need.
        let _agents = self.agents.clone();
        let life = self.life.clone();
        let (mut worker, client) = match self.worker().await {
            Ok(served) => served,
            Err(failure) => {
                drop(ready.send(Err(failure)));
                return Ok(());
            }
        };
        drop(ready.send(Ok(())));
        let stop = life.note(async move {
            // An error means that the worker was dropped.
            drop(stopped.wait_for(|stopped| *stopped).await);
        });
        let served = life.of(worker.run(stop)).await;
        // Its key was renewed until now.
        drop(client);
        Ok(served?)
    }

    async fn worker(self) -> Result<(AgentWorker, AgentClient), WorkerFailure> {
        let client = match &self.address {
            Some((address, namespace)) => {
                AgentClient::connect_worker_to(address, namespace, REPORTS).await?
            }
            None => AgentClient::connect_worker(REPORTS).await?,
        };
        let (agents, mut executors) = Parts::served(&self.agents)?;
        if let Some(sessions) = &self.sessions {
            executors = executors.with_sessions(sessions);
        }
        let builder = AgentWorker::builder(&client, executors)
            .agents(agents)
            .workflow::<AgentRun>();
        let workflows = self.agents.iter().filter_map(|agent| agent.serving);
        let builder = workflows.fold(builder, |builder, serving| (serving.temporal)(builder));
        let builder = self
            .settings
            .into_iter()
            .fold(builder, |builder, setting| setting(builder));
        let worker = builder.build()?;
        if let Some(health) = &self.health {
            health.reached(&client);
        }
        Ok((worker, client))
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = self.agents.iter().map(|agent| &agent.spec.name);
        f.debug_struct("WorkerBuilder")
            .field("address", &self.address)
            .field("agents", &agents.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
