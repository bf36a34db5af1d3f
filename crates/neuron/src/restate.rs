//! Runs on Restate: a worker that serves agents, and a client that starts their runs.
//!
//! The rest is in [`sdk`], the crate `neuron-restate`.

use std::{fmt, io, net::SocketAddr, sync::Arc};

use neuron_engine::{Life, RunClient, RunClientError};
use neuron_executor::{EventSink, Sessions};
use neuron_local::StoredSessions;
pub use neuron_restate as sdk;
use neuron_restate::{
    AgentServices, Metrics, RestateClient, ServerAddress, ServiceNames, SettingsError, Workflow,
};
use neuron_types::{RunId, RunRequest};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::{
    Agent, AgentError, Runs,
    agent::Parts,
    place::{Engine, StartFuture, start_elsewhere},
    remote::RemoteAgent,
    run::{Run, RunFailure},
    worker::Shared,
};

/// A client of the runs on a Restate server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    client: RestateClient,
}

impl Client {
    /// Returns a client of this server. The server is not asked yet.
    ///
    /// # Errors
    ///
    /// [`RunClientError`] with the error in the address.
    pub fn new(address: ServerAddress) -> Result<Self, RunClientError> {
        Ok(Self {
            client: RestateClient::new(address, ServiceNames::default())?,
        })
    }

    /// Registers a worker with the server, by the address at which the server reaches it. An existing registration of
    /// the address stays, with the runs in flight on it.
    ///
    /// # Errors
    ///
    /// The server rejects the worker, for example because another version is registered at this address.
    pub async fn register(&self, worker_url: &str) -> Result<(), RunClientError> {
        self.client.register(worker_url).await
    }

    /// Registers a worker with the server in place of any existing registration of the address, also for the runs in
    /// flight: for development.
    ///
    /// # Errors
    ///
    /// The server rejects the worker.
    pub async fn register_over(&self, worker_url: &str) -> Result<(), RunClientError> {
        self.client.register_over(worker_url).await
    }

    /// Returns the agent of this name, of a worker in any process. `I` is the input of its runs, and `O` their output.
    #[must_use]
    pub fn agent<I: ?Sized, O>(&self, name: impl Into<String>) -> RemoteAgent<I, O> {
        RemoteAgent::new(self.runs(), name)
    }

    /// Returns a workflow of a program, of a worker in any process.
    #[must_use]
    pub fn workflow<W: neuron_workflows::Workflow>(&self) -> RemoteAgent<W::Input, W::Output> {
        self.agent(W::NAME)
    }

    /// Starts a run of a workflow of a program, or attaches to the run of this id if that was started with the same
    /// input: see [`RemoteAgent::start`].
    ///
    /// # Errors
    ///
    /// The errors of [`RemoteAgent::start`].
    pub async fn start_workflow<W: neuron_workflows::Workflow>(
        &self,
        run_id: &str,
        input: &W::Input,
    ) -> Result<Run<W::Output>, RunFailure> {
        self.workflow::<W>().start(run_id, input).await
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

impl From<RestateClient> for Client {
    fn from(client: RestateClient) -> Self {
        Self { client }
    }
}

impl Engine for Client {
    fn start_run<'a>(
        &'a self,
        _agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        Box::pin(start_elsewhere(self.runs(), run_id, request))
    }
}

/// The builder of a worker that serves agents, made by [`Worker::builder`].
#[must_use]
pub struct WorkerBuilder {
    listen: String,
    names: ServiceNames,
    agents: Vec<Arc<Parts>>,
    settings: Vec<Setting>,
    sessions: Option<Arc<dyn Sessions>>,
    life: Life,
}

type Setting = Box<dyn FnOnce(AgentServices) -> AgentServices + Send>;

/// A worker that serves agents in a task of its own. It stops with [`stop`](Self::stop), or when it is dropped.
pub struct Worker {
    address: SocketAddr,
    metrics: Arc<Metrics>,
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<Result<(), SettingsError>>>,
}

/// Why a worker does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerFailure {
    /// The worker cannot listen.
    #[error("the worker cannot listen on {address}")]
    Listen {
        /// The address on which it was to listen.
        address: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The worker's settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The worker's agents cannot be served together.
    #[error(transparent)]
    Agents(#[from] AgentError),
    /// The worker's task is gone.
    #[error("the worker's task is gone")]
    Task(#[from] tokio::task::JoinError),
}

impl Worker {
    /// Starts building a worker.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder {
            listen: "127.0.0.1:9080".to_owned(),
            names: ServiceNames::default(),
            agents: Vec::new(),
            settings: Vec::new(),
            sessions: None,
            life: Life::default(),
        }
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what it measures: the attempts that it made, and those in flight.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.metrics)
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
        let Some(task) = &mut self.task else {
            return Ok(());
        };
        // A caller may stop waiting and wait again.
        let result = task.await;
        self.task = None;
        Ok(result??)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl WorkerBuilder {
    /// Sets where the worker listens for the server. Default is `127.0.0.1:9080`; port 0 is any free port. An address
    /// that other machines reach needs [identity keys](AgentServices::with_identity_keys): see [`with`](Self::with).
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// Sets the names of the services. Default is [`ServiceNames::default`].
    pub fn names(mut self, names: ServiceNames) -> Self {
        self.names = names;
        self
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
            builder = builder.with(move |services| services.with_grace(period));
        }
        builder
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
        self.with(move |services| services.with_sink(sink))
    }

    /// Accepts whole definitions of agents from callers too, and not only names: for development. Default is `false`.
    pub fn accept_definitions(self, accept: bool) -> Self {
        self.with(move |services| services.accept_definitions(accept))
    }

    /// Changes a setting that this builder has no setter for.
    pub fn with(
        mut self,
        setting: impl FnOnce(AgentServices) -> AgentServices + Send + 'static,
    ) -> Self {
        self.settings.push(Box::new(setting));
        self
    }

    /// Starts the worker. The server has to know it: [`Client::register`].
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`].
    pub async fn spawn(self) -> Result<Worker, WorkerFailure> {
        let failed = |source| WorkerFailure::Listen {
            address: self.listen.clone(),
            source,
        };
        let listener = TcpListener::bind(&self.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (agents, mut executors) = Parts::served(&self.agents)?;
        if let Some(sessions) = &self.sessions {
            executors = executors.with_sessions(sessions);
        }
        let services = AgentServices::new(self.names, executors, AGENT_RUN).with_agents(agents);
        let services = self
            .agents
            .iter()
            .fold(services, |services, agent| match agent.serving {
                Some(serving) => services
                    .with_workflow(&agent.spec.name, serving.restate)
                    .with_patches(&agent.spec.name, serving.patches),
                None => services,
            });
        let services = self
            .settings
            .into_iter()
            .fold(services, |services, setting| setting(services));
        services.check_address(address)?;
        let (stop, mut stopped) = watch::channel(false);
        let (alive, life) = (self.agents, self.life);
        let metrics = services.metrics();
        let task = tokio::spawn(async move {
            let stop = life.note(async move {
                // An error means that the worker was dropped.
                drop(stopped.wait_for(|stopped| *stopped).await);
            });
            let served = life.of(services.serve(listener, stop)).await;
            drop(alive);
            served
        });
        Ok(Worker {
            address,
            metrics,
            stop,
            task: Some(task),
        })
    }
}

/// The workflow of an agent's run, as Restate knows it.
const AGENT_RUN: Workflow = |door, start| Box::pin(neuron_workflows::agent(door, start));

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = self.agents.iter().map(|agent| &agent.spec.name);
        f.debug_struct("WorkerBuilder")
            .field("listen", &self.listen)
            .field("agents", &agents.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
