//! Putting the services together, and serving them.

use std::{fmt, sync::Arc, time::Duration};

use neuron_runtime::{EventSink, NoSink};
use restate_sdk::endpoint::{Endpoint, HandlerOptions, ServiceOptions};
use tokio::net::TcpListener;

use crate::{
    Executors, Metrics, ServiceNames, SettingsError, Workflow, executors::Acting, inbox,
    meter::Size, pace, record, service, serving, tools,
};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the handlers of a moment may be silent.
const SHORT: Duration = MINUTE;

/// What the services of a worker have in common.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) inactivity: Duration,
    pub(crate) abort: Duration,
    pub(crate) retention: Duration,
    /// How large a journal gets before its run rolls over.
    pub(crate) most: Size,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            inactivity: 15 * MINUTE,
            abort: DAY,
            retention: 7 * DAY,
            most: pace::DEFAULT,
        }
    }
}

impl Settings {
    /// How long a step of a run looks out for its cancellation: some time less than it takes until the
    /// server asks the run to suspend.
    pub(crate) fn watch(&self) -> Duration {
        self.inactivity.mul_f64(0.9)
    }
}

/// The services that run agents, to be served by a worker.
pub struct AgentServices {
    names: ServiceNames,
    acting: Acting,
    workflow: Workflow,
    settings: Settings,
    identity_keys: Vec<String>,
}

impl AgentServices {
    /// Services under these names, which act through these executors and run this workflow.
    pub fn new(names: ServiceNames, executors: impl Executors, workflow: Workflow) -> Self {
        Self {
            names,
            acting: Acting {
                executors: Arc::new(executors),
                sink: Arc::new(NoSink),
                metrics: Arc::default(),
                drain: Arc::default(),
            },
            workflow,
            settings: Settings::default(),
            identity_keys: Vec::new(),
        }
    }

    /// Sets how long a run may be silent before Restate suspends it. Default is 15 minutes.
    ///
    /// A suspended run costs its worker nothing and is resumed when what it waits for happens. But while the
    /// server waits for it to suspend, a step that takes longer does not notice that the run is cancelled: so
    /// this should be longer than a model call takes.
    #[must_use]
    pub fn with_inactivity_timeout(mut self, timeout: Duration) -> Self {
        self.settings.inactivity = timeout;
        self
    }

    /// Sets how long Restate keeps a run that is over. Default is 7 days.
    #[must_use]
    pub fn with_retention(mut self, retention: Duration) -> Self {
        self.settings.retention = retention;
        self
    }

    /// Sets how many entries a journal gets before its run goes on in a fresh one. Default is 2,000.
    ///
    /// A turn with one tool call makes about ten. The limit is passed only by a step that makes more entries
    /// than each before it. A run that has begun a journal keeps to what was set then.
    #[must_use]
    pub fn roll_over_after(mut self, entries: u64) -> Self {
        self.settings.most.entries = entries;
        self
    }

    /// Sets how many bytes of results a journal gets before its run goes on in a fresh one. Default is 8 MiB.
    ///
    /// What the run carries over is not counted, so that a large conversation does not roll over at each
    /// step. A run whose state takes more than 24 MiB is not rolled over: it stays where it is until its
    /// journal holds 64 MiB or 50,000 entries, and then fails with a message that says so.
    #[must_use]
    pub fn roll_over_after_bytes(mut self, bytes: u64) -> Self {
        self.settings.most.bytes = bytes;
        self
    }

    /// Sets who is told the events of runs as they happen here, and of attempts that are followed by another. A
    /// sink that [wants tokens](EventSink::wants_tokens) is told answers while they come, by the worker that
    /// asks the model. Default is nobody.
    ///
    /// A replay of what the journal holds tells nothing. When a worker or its connection is lost, the events
    /// since the last step that the journal holds come again: see [`EventSink`] for what they supersede.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.acting.sink = sink;
        self
    }

    /// Sets the public keys of the servers whose requests are taken. Default is none: all are taken.
    #[must_use]
    pub fn with_identity_keys(mut self, keys: impl IntoIterator<Item = String>) -> Self {
        self.identity_keys = keys.into_iter().collect();
        self
    }

    /// What is counted while they are served.
    #[must_use]
    pub fn metrics(&self) -> Arc<Metrics> {
        Arc::clone(&self.acting.metrics)
    }

    /// Builds the endpoint.
    ///
    /// # Errors
    ///
    /// [`SettingsError::IdentityKey`].
    pub fn endpoint(self) -> Result<Endpoint, SettingsError> {
        let Self { names, acting, .. } = &self;
        let agent = service::definition(names, acting.clone(), self.workflow, &self.settings)?;
        let tools = tools::definition(names.tools(), acting.clone())?;
        let mut builder = Endpoint::builder()
            .bind(agent)
            .bind(tools)
            .bind(inbox::definition(names)?)
            .bind(record::definition(names)?);
        for key in &self.identity_keys {
            builder = builder
                .identity_key(key)
                .map_err(|source| SettingsError::IdentityKey {
                    source: Box::new(source),
                })?;
        }
        Ok(builder.build())
    }

    /// Serves them until `shutdown` is done. Then no step is started any more, and those in flight get up to
    /// 30 seconds to end.
    ///
    /// # Errors
    ///
    /// As [`endpoint`](Self::endpoint).
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), SettingsError> {
        let drain = Arc::clone(&self.acting.drain);
        serving::serve(self.endpoint()?, listener, &drain, shutdown).await;
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

/// How Restate tries again when a worker is lost: soon, every few seconds, and for as long as it takes. Its
/// own default pauses an invocation after about an hour.
pub(crate) fn restarts(options: ServiceOptions) -> ServiceOptions {
    options
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(5))
        .retry_policy_max_attempts(u64::from(u32::MAX))
        .retry_policy_pause_on_max_attempts()
}

/// Handlers that take a moment.
pub(crate) fn short_handler() -> HandlerOptions {
    HandlerOptions::new()
        // What it did stands in the run's events. Asking for a status leaves nothing behind.
        .journal_retention(Duration::ZERO)
        .inactivity_timeout(SHORT)
        .abort_timeout(SHORT)
}

/// Services of such handlers.
pub(crate) fn short(options: ServiceOptions) -> ServiceOptions {
    let options = options.journal_retention(Duration::ZERO);
    restarts(options.inactivity_timeout(SHORT).abort_timeout(SHORT))
}
