//! Construction and serving of the services.

use std::{
    collections::BTreeMap, fmt, net::SocketAddr, path::Path, pin::pin, sync::Arc, time::Duration,
};

use neuron_executor::{Agents, EventSink, Executors, NoSink};
use restate_sdk::endpoint::Endpoint;
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_rustls::TlsAcceptor;

use crate::{
    attempts::{metrics::Metrics, worker_context::WorkerContext},
    services::{
        agent, inbox,
        options::Settings,
        record_service, segment_service,
        segments::{Segments, Workflow, Workflows},
    },
    wire::{
        service_names::{ServiceNames, check_deployment},
        settings_error::SettingsError,
    },
    worker::serving::{self, Attempts, Listening},
};

/// The services that run agents, to be served by a worker.
pub struct AgentServices {
    names: ServiceNames,
    worker: WorkerContext,
    agents: Agents,
    /// Whether callers may start runs with whole definitions of agents.
    accepts_definitions: bool,
    workflows: Workflows,
    settings: Settings,
    identity_keys: Vec<String>,
    takes_unsigned: bool,
    grace: Duration,
    tls: Option<TlsAcceptor>,
}

/// How long steps in flight have to end when the worker is to stop: less than the 30 s after which Kubernetes kills it.
const GRACE: Duration = Duration::from_secs(25);

impl AgentServices {
    /// Returns services under these names, which run this workflow and act through these executors: an
    /// [`Executor`](neuron_executor::Executor) for every agent, or [one for each](Executors::by_agent).
    pub fn new(names: ServiceNames, executors: impl Into<Executors>, workflow: Workflow) -> Self {
        let executors: Executors = executors.into();
        let executors = executors.with_place(&names.place());
        Self {
            names,
            worker: WorkerContext {
                executors,
                sink: Arc::new(NoSink),
                metrics: Arc::default(),
                drain: Arc::default(),
                registry: Arc::default(),
                retried: Arc::default(),
                slots: None,
            },
            agents: Agents::default(),
            accepts_definitions: false,
            workflows: Workflows {
                of_agents: workflow,
                by_name: BTreeMap::new(),
                patches: BTreeMap::new(),
            },
            settings: Settings::default(),
            identity_keys: Vec::new(),
            takes_unsigned: false,
            grace: GRACE,
            tls: None,
        }
    }

    /// Sets the agents whose runs are started by name. Default is no agent.
    #[must_use]
    pub fn with_agents(mut self, agents: Agents) -> Self {
        self.agents = agents;
        self
    }

    /// Sets whether callers may start runs with whole definitions of agents, and not only with names. It is for
    /// development: a caller then decides what instructions the agent has, which of the executor's tools it calls and
    /// whom it asks. Default is `false`: a run that is started with a definition fails before its first step.
    #[must_use]
    pub fn accept_definitions(mut self, accept: bool) -> Self {
        self.accepts_definitions = accept;
        self
    }

    /// Serves another workflow besides that of agents: runs that name it are its runs. One of the same name is
    /// replaced.
    #[must_use]
    pub fn with_workflow(mut self, name: impl Into<String>, workflow: Workflow) -> Self {
        self.workflows.by_name.insert(name.into(), workflow);
        self
    }

    /// Declares the [patches](neuron_types::DurableContext::patched) of the workflow of this name, besides those of the
    /// agents' loop. Default is no patch.
    #[must_use]
    pub fn with_patches(
        mut self,
        name: impl Into<String>,
        patches: &'static [&'static str],
    ) -> Self {
        self.workflows.patches.insert(name.into(), patches);
        self
    }

    /// Sets the name of this deployment, of up to 64 letters, digits, `.`, `_` and `-`. A run that continues as new
    /// continues at a deployment of the name that it began at, even if others were registered since. So a worker at
    /// another address needs another name, and a worker that takes over the runs of a deployment that is gone needs its
    /// name. Default is no name: any deployment without a name continues the runs of others without a name.
    #[must_use]
    pub fn with_deployment(mut self, name: impl Into<String>) -> Self {
        self.settings.deployment = Some(name.into());
        self
    }

    /// Sets how long a run may be silent before Restate suspends it. Default is a minute.
    ///
    /// A suspended run costs its worker nothing and is resumed when what it waits for happens. A run with a model
    /// call or a tool call in flight is not silent: every two thirds of this time it journals that there is
    /// nothing yet, which takes two entries. A run that has begun a journal keeps the setting of that time.
    #[must_use]
    pub fn with_inactivity_timeout(mut self, timeout: Duration) -> Self {
        self.settings.inactivity = timeout;
        self
    }

    /// Sets how many attempts, model calls and tool calls, are made at once, at least 1. Further ones wait in this
    /// worker, and their clocks are paused meanwhile. A write that waits counts as begun: if the worker is lost, its
    /// outcome is unknown. Default is no limit.
    #[must_use]
    pub fn with_max_attempts(mut self, attempts: usize) -> Self {
        let attempts = attempts.clamp(1, Semaphore::MAX_PERMITS);
        self.worker.slots = Some(Arc::new(Semaphore::new(attempts)));
        self
    }

    /// Sets how long steps in flight may take when the worker stops. Default is 25 s.
    #[must_use]
    pub fn with_grace(mut self, period: Duration) -> Self {
        self.grace = period;
        self
    }

    /// Sets how long Restate keeps a run that is over. Default is 7 days.
    #[must_use]
    pub fn with_retention(mut self, retention: Duration) -> Self {
        self.settings.retention = retention;
        self
    }

    /// Sets how many entries a journal gets before its run continues as new. Default is 2,000.
    ///
    /// A turn with one reading call makes five, with one writing call seven. The limit is only exceeded by a turn that
    /// makes more entries than each before it, and while something is in flight at the limit. A run that has begun a
    /// journal keeps the setting of that time.
    #[must_use]
    pub fn continue_as_new_after(mut self, entries: u64) -> Self {
        self.settings.most.entries = entries;
        self
    }

    /// Sets how many bytes of results a journal gets before its run continues as new. Default is 8 MiB.
    ///
    /// What the run carries over is not counted, so that a large conversation does not continue as new
    /// at each step. A run whose state takes more than 24 MiB does not continue as new: it stays where it is until its
    /// journal has 64 MiB or 50,000 entries, and then fails with a message about that.
    #[must_use]
    pub fn continue_as_new_after_bytes(mut self, bytes: u64) -> Self {
        self.settings.most.bytes = bytes;
        self
    }

    /// Sets the sink of the events of runs as they happen here, and of attempts that are followed by another. A
    /// sink that [wants tokens](EventSink::wants_tokens) gets answers while they arrive, from the worker that calls
    /// the model. Default is no sink.
    ///
    /// A replay of what the journal has emits nothing. When a worker or its connection is lost, the events
    /// since the last step in the journal are emitted again: see [`EventSink`] for what they supersede.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.worker.executors = self.worker.executors.with_sink(&sink);
        self.worker.sink = sink;
        self
    }

    /// Sets the public keys of the servers whose requests are accepted. Default is no key: all requests are accepted,
    /// and only at an address that no other machine reaches.
    #[must_use]
    pub fn with_identity_keys(mut self, keys: impl IntoIterator<Item = String>) -> Self {
        self.identity_keys = keys.into_iter().collect();
        self
    }

    /// Serves by HTTPS, with the certificates of one file, its own first, and the key of another, both in PEM. They are
    /// read now, and not again. TLS does not check who makes the requests: that is for
    /// [identity keys](Self::with_identity_keys). Default is HTTP.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Tls`].
    pub fn with_tls(mut self, certificates: &Path, key: &Path) -> Result<Self, SettingsError> {
        let config = neuron_tls::server_config(certificates, key, &["h2"])?;
        self.tls = Some(TlsAcceptor::from(config));
        Ok(self)
    }

    /// Accepts unsigned requests also at an address that other machines reach. Default is that such an address
    /// is rejected: every caller that reaches it can call every tool.
    #[must_use]
    pub fn with_unsigned_requests(mut self) -> Self {
        self.takes_unsigned = true;
        self
    }

    /// Checks that the services may be served at this address: at a loopback address always, at others with
    /// [identity keys](Self::with_identity_keys), or if [unsigned requests](Self::with_unsigned_requests) are accepted.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Exposed`].
    pub fn check_address(&self, address: SocketAddr) -> Result<(), SettingsError> {
        if address.ip().is_loopback() || !self.identity_keys.is_empty() || self.takes_unsigned {
            return Ok(());
        }
        Err(SettingsError::Exposed { address })
    }

    /// Returns the metrics of the services while they are served.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.worker.metrics)
    }

    /// Builds the endpoint, for a custom server. [`check_address`](Self::check_address) returns at which addresses it
    /// may be served. The connections of such a server are not counted here, so steps in flight that no invocation has
    /// joined for 90 s end, even while Restate is away.
    ///
    /// # Errors
    ///
    /// [`SettingsError::IdentityKey`], [`SettingsError::Deployment`].
    pub fn endpoint(self) -> Result<Endpoint, SettingsError> {
        let names = &self.names;
        let mut worker = self.worker.clone();
        worker.executors = worker.executors.granting(&self.agents);
        if !self.accepts_definitions {
            worker.executors = worker.executors.rejecting_definitions();
        }
        let workflows = self.workflows.clone();
        if let Some(deployment) = &self.settings.deployment {
            check_deployment(deployment)?;
        }
        let segments = Segments {
            names: names.clone(),
            worker,
            workflows,
            settings: self.settings.clone(),
        };
        let mut builder = Endpoint::builder()
            .bind(agent::definition(segments.clone())?)
            .bind(segment_service::definition(segments)?)
            .bind(inbox::definition(names)?)
            .bind(record_service::definition(names)?);
        for key in &self.identity_keys {
            builder = builder
                .identity_key(key)
                .map_err(|source| SettingsError::IdentityKey {
                    source: Box::new(source),
                })?;
        }
        Ok(builder.build())
    }

    /// Serves the services until `shutdown` is done. Then no attempt is started any more, and those in flight get
    /// their [grace](Self::with_grace) to end.
    ///
    /// # Errors
    ///
    /// As [`endpoint`](Self::endpoint) and [`check_address`](Self::check_address), and [`SettingsError::Listener`].
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), SettingsError> {
        let address = listener.local_addr();
        self.check_address(address.map_err(SettingsError::Listener)?)?;
        let (attempts, grace) = (
            Attempts {
                drain: Arc::clone(&self.worker.drain),
                presence: Arc::clone(self.worker.registry.presence()),
                retried: Arc::clone(&self.worker.retried),
            },
            self.grace,
        );
        let listening = Listening {
            listener,
            tls: self.tls.clone(),
        };
        serving::serve(
            self.endpoint()?,
            listening,
            &attempts,
            grace,
            pin!(shutdown),
        )
        .await;
        Ok(())
    }
}

impl fmt::Debug for AgentServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentServices")
            .field("names", &self.names)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
