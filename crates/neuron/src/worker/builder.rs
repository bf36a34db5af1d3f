//! Builds a worker on one of the engines.

#[cfg(feature = "local")]
use std::path::PathBuf;
use std::{fmt, sync::Arc, time::Duration};

use neuron_executor::EventSink;

use super::{
    EngineKind, Worker, WorkerFailure,
    beside::{Beside, HealthPlace},
    handle::Served,
    shared::Shared,
};
#[cfg(any(feature = "local", feature = "restate"))]
use crate::Runs;
use crate::{Agent, AnyAgent};

/// The queue, if none is set.
pub(crate) const QUEUE: &str = "neuron";

/// The home of local runs, if none is set.
#[cfg(feature = "local")]
pub(crate) const HOME: &str = ".neuron";

/// The builder of a worker, made by [`Worker::on`]. Settings of other engines than the worker's are ignored, so that a
/// program sets them all and chooses the engine when it starts.
#[must_use]
pub struct WorkerBuilder {
    kind: EngineKind,
    queue: String,
    #[cfg(feature = "local")]
    home: PathBuf,
    shared: Shared,
    #[cfg(feature = "local")]
    max_runs: Option<usize>,
    build: Option<(String, String)>,
    health: Option<String>,
    #[cfg(feature = "temporal")]
    temporal: Change<crate::temporal::WorkerBuilder>,
    #[cfg(feature = "restate")]
    restate: Change<crate::restate::WorkerBuilder>,
    #[cfg(feature = "restate")]
    restate_place: RestatePlace,
}

/// Changes a builder.
#[cfg(any(feature = "temporal", feature = "restate"))]
type Change<B> = Vec<Box<dyn FnOnce(B) -> B + Send>>;

/// Where a worker on Restate and its server find each other.
#[cfg(feature = "restate")]
struct RestatePlace {
    listen: String,
    url: Option<String>,
    is_registered: bool,
}

impl Worker {
    /// Starts building a worker on this engine.
    pub fn on(engine: EngineKind) -> WorkerBuilder {
        WorkerBuilder::new(engine)
    }
}

impl WorkerBuilder {
    fn new(kind: EngineKind) -> Self {
        Self {
            kind,
            queue: QUEUE.to_owned(),
            #[cfg(feature = "local")]
            home: HOME.into(),
            shared: Shared::default(),
            #[cfg(feature = "local")]
            max_runs: None,
            build: None,
            health: None,
            #[cfg(feature = "temporal")]
            temporal: Vec::new(),
            #[cfg(feature = "restate")]
            restate: Vec::new(),
            #[cfg(feature = "restate")]
            restate_place: RestatePlace {
                listen: "127.0.0.1:9080".to_owned(),
                url: None,
                is_registered: true,
            },
        }
    }

    /// Serves this agent, or workflow of the program: runs that name it are its runs.
    pub fn agent<I: ?Sized, O>(mut self, agent: &Agent<I, O>) -> Self {
        self.shared.agents.push(Arc::clone(agent.parts()));
        self
    }

    /// Serves these agents, of any types.
    pub fn agents(mut self, agents: &[&dyn AnyAgent]) -> Self {
        self.shared
            .agents
            .extend(agents.iter().map(|agent| Arc::clone(agent.parts())));
        self
    }

    /// Sets the task queue on Temporal and the prefix of the services' names on Restate. Workers and clients with the
    /// same name belong together. Default is `neuron`. A local worker ignores it.
    pub fn task_queue(mut self, name: impl Into<String>) -> Self {
        self.queue = name.into();
        self
    }

    /// Sets the folder with the journal of a local worker, which is created if it is missing. Default is `.neuron` in
    /// the working directory. Runs that the command has submitted there are executed if they work in the directory of the
    /// agent's tools; the others are left to the command's worker.
    #[cfg(feature = "local")]
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = folder.into();
        self
    }

    /// Sets the sessions that runs continue which [name one](neuron_types::RunRequest::session). Default is no
    /// sessions: such a run fails.
    pub fn sessions(mut self, sessions: neuron_local::StoredSessions) -> Self {
        self.shared.sessions = Some(Arc::new(sessions));
        self
    }

    /// Sets the watcher of the runs that this worker executes. Default is no watcher.
    pub fn sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.shared.sink = Some(sink);
        self
    }

    /// Sets how long steps in flight may take when the worker stops. Default is 25 s.
    pub fn grace(mut self, period: Duration) -> Self {
        self.shared.grace = Some(period);
        self
    }

    /// Sets how many runs a local worker executes at once; the others wait. Default is 8, and the minimum is 1. A worker
    /// of an engine ignores it.
    #[cfg(feature = "local")]
    pub fn max_runs(mut self, runs: usize) -> Self {
        self.max_runs = Some(runs);
        self
    }

    /// Accepts whole definitions of agents from callers too, and not only names: for development. Default is `false`.
    /// A local worker always accepts them: a process that can write to the journal is trusted. Such a run may do no more than
    /// its agent, on every engine.
    pub fn accept_definitions(mut self, accept: bool) -> Self {
        self.shared.accept_definitions = accept;
        self
    }

    /// Sets the deployment that the worker belongs to, and its build of it: of the program and of its agents. On
    /// Temporal a run stays with the builds that it began with (Worker Versioning, pinned); on Restate it stays with
    /// its build through all its segments. Default is no build. A local worker ignores it.
    pub fn deployment(mut self, name: impl Into<String>, build: impl Into<String>) -> Self {
        self.build = Some((name.into(), build.into()));
        self
    }

    /// Has the worker answer about its health at this address, such as `0.0.0.0:9090`; port 0 is any free port. Default is
    /// that it does not. `GET` of
    ///
    /// - `/healthz` is 200 while the worker lives, and 503 when its thread has hung for a minute;
    /// - `/readyz` is 200 while the worker can take work, and 503 while it stops, its engine does not answer, or the engine
    ///   does not know it, with the reason as text;
    /// - `/metrics` is what the worker measures, in the text format of Prometheus.
    ///
    /// Every client that reaches the address can read these: do not use a public address.
    pub fn health(mut self, address: impl Into<String>) -> Self {
        self.health = Some(address.into());
        self
    }

    /// Changes a setting of the worker on Temporal that this builder has no setter for, such as its server. Its task
    /// queue and agents are those of this builder.
    #[cfg(feature = "temporal")]
    pub fn temporal(
        mut self,
        change: impl FnOnce(crate::temporal::WorkerBuilder) -> crate::temporal::WorkerBuilder
        + Send
        + 'static,
    ) -> Self {
        self.temporal.push(Box::new(change));
        self
    }

    /// Changes a setting of the worker on Restate that this builder has no setter for, such as its identity keys. Its
    /// names and agents are those of this builder.
    #[cfg(feature = "restate")]
    pub fn restate(
        mut self,
        change: impl FnOnce(crate::restate::WorkerBuilder) -> crate::restate::WorkerBuilder
        + Send
        + 'static,
    ) -> Self {
        self.restate.push(Box::new(change));
        self
    }

    /// Sets the address at which a worker on Restate listens for the server. Default is `127.0.0.1:9080`; port 0 is any
    /// free port. An address that other machines reach needs
    /// [identity keys](neuron_restate::AgentServices::with_identity_keys): see [`restate`](Self::restate).
    #[cfg(feature = "restate")]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.restate_place.listen = address.into();
        self
    }

    /// Sets the URL at which the Restate server reaches the worker. Default is `http://` and the address at which it
    /// listens, or that of this machine if it listens at every address. A worker with TLS needs it.
    #[cfg(feature = "restate")]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.restate_place.url = Some(url.into());
        self
    }

    /// Sets whether a worker on Restate registers itself with the server. Default is `true`: when it starts, and again when
    /// the server has forgotten it, for example because its data were lost. A
    /// worker without a [`deployment`](Self::deployment) at an address of this machine replaces what was registered at
    /// that address, which is for development; any other worker is rejected if another version is registered at its
    /// URL.
    #[cfg(feature = "restate")]
    pub fn registers(mut self, registers: bool) -> Self {
        self.restate_place.is_registered = registers;
        self
    }

    /// Starts the worker, and returns when it serves: when the journal is open, or the server was reached and knows the
    /// worker. The server is the one that the environment names, as the engine's own tools read it.
    ///
    /// # Errors
    ///
    /// [`WorkerFailure`]. Nothing is served then.
    pub async fn spawn(self) -> Result<Worker, WorkerFailure> {
        match self.kind {
            #[cfg(feature = "local")]
            EngineKind::Local => self.spawn_local().await,
            #[cfg(feature = "temporal")]
            EngineKind::Temporal => self.spawn_on_temporal().await,
            #[cfg(feature = "restate")]
            EngineKind::Restate => self.spawn_on_restate().await,
        }
    }

    #[cfg(feature = "local")]
    async fn spawn_local(self) -> Result<Worker, WorkerFailure> {
        use neuron_local::WorkerCounts;

        use super::local::LocalTask;

        let place = HealthPlace::listen(self.health).await?;
        let life = self.shared.life.clone();
        let counts = WorkerCounts::default();
        let (worker, client) =
            LocalTask::spawn(&self.home, self.shared, self.max_runs, counts.clone()).await?;
        let mut beside = Beside::default();
        beside.serve_health(place, life, counts);
        Ok(Worker::new(
            Runs::from(client),
            self.kind,
            Served::Local(worker),
            beside,
        ))
    }

    #[cfg(feature = "temporal")]
    async fn spawn_on_temporal(self) -> Result<Worker, WorkerFailure> {
        use neuron_temporal::{Versioning, WorkerHealth};

        use crate::temporal::Client;

        let place = HealthPlace::listen(self.health).await?;
        let (life, served) = (self.shared.life.clone(), self.shared.agents.clone());
        let builder = crate::temporal::Worker::builder().set_up(self.shared);
        let builder = match self.build {
            Some((name, build)) => {
                builder.with(move |worker| worker.deployment(name, build, Versioning::Pinned))
            }
            None => builder,
        };
        let changes = self.temporal.into_iter();
        let builder = changes.fold(builder, |builder, change| change(builder));
        let builder = builder.task_queue(&self.queue);
        let client = match builder.address() {
            Some((address, namespace)) => Client::connect_to(address, namespace).await?,
            None => Client::connect().await?,
        };
        let client = client.task_queue(self.queue);
        let mut beside = Beside::default();
        let builder = match place {
            Some(place) => {
                let (health, options) = WorkerHealth::collecting()?;
                beside.serve_health(Some(place), life, health.clone());
                builder
                    .with(move |worker| worker.telemetry(options))
                    .reached(health)
            }
            None => builder,
        };
        let worker = builder.spawn().await?;
        Ok(Worker::new(
            client.runs_with(&served),
            self.kind,
            Served::Temporal(Some(worker)),
            beside,
        ))
    }

    #[cfg(feature = "restate")]
    async fn spawn_on_restate(self) -> Result<Worker, WorkerFailure> {
        use neuron_restate::{
            Registration, RestateClient, ServerAddress, ServiceNames, WorkerHealth, worker_url,
        };

        use crate::restate::{Client, WorkerFailure as NotServed};

        let place = HealthPlace::listen(self.health).await?;
        let life = self.shared.life.clone();
        let names = ServiceNames::new(self.queue).map_err(NotServed::from)?;
        let server = ServerAddress::from_environment(|name| std::env::var(name).ok());
        let has_build = self.build.is_some();
        let deployment = self.build.map(|(name, build)| format!("{name}-{build}"));
        let client = RestateClient::new(server, names.clone())?.with_deployment(deployment.clone());
        let server = client.clone();
        let client = Client::from(client);
        let builder = crate::restate::Worker::builder()
            .listen(self.restate_place.listen)
            .set_up(self.shared);
        let builder = match deployment {
            Some(name) => builder.with(|services| services.with_deployment(name)),
            None => builder,
        };
        let changes = self.restate.into_iter();
        let builder = changes.fold(builder, |builder, change| change(builder));
        let worker = builder.names(names).spawn().await?;
        let health = WorkerHealth::new(worker.metrics(), self.restate_place.is_registered);
        let mut beside = Beside::default();
        beside.serve_health(place, life, health.clone());
        if self.restate_place.is_registered {
            let is_here = worker.address().ip().is_loopback() && self.restate_place.url.is_none();
            // A build stays where runs have begun on it.
            let is_development = is_here && !has_build;
            let here = || worker_url("http", worker.address());
            let url = self.restate_place.url.unwrap_or_else(here);
            let (how, registered) = match is_development {
                true => (Registration::Over, client.register_over(&url).await),
                false => (Registration::New, client.register(&url).await),
            };
            if let Err(error) = registered {
                worker.stop().await?;
                return Err(error.into());
            }
            health.set_registered(true);
            beside.spawn(async move { server.keep_registered(&url, how, &health).await });
        }
        Ok(Worker::new(
            Runs::from(client),
            self.kind,
            Served::Restate(Some(worker)),
            beside,
        ))
    }
}

impl fmt::Debug for WorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = self.shared.agents.iter().map(|agent| &agent.spec.name);
        f.debug_struct("WorkerBuilder")
            .field("engine", &self.kind)
            .field("task_queue", &self.queue)
            .field("agents", &agents.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
