use std::{fmt, sync::Arc, time::Duration};

use neuron_engine::{RunClientError, RunFuture};
use neuron_types::RunId;
use temporalio_client::{
    Client, ClientOptions, Connection, ConnectionOptions, Url, WorkflowHandle,
    envconfig::{ConfigError, LoadClientConfigProfileOptions},
    errors::{WorkflowInteractionError, WorkflowQueryError, WorkflowStartError},
    tonic::{Code, Request, Status},
};
use temporalio_common::{
    envconfig::load_client_config_profile,
    protos::temporal::api::{
        history::v1::History,
        workflowservice::v1::{DescribeNamespaceRequest, GetSystemInfoRequest},
    },
};

use super::{
    api_key_file::{ApiKeyFile, KeyRenewal},
    fault::{self, failed},
    patient::patient,
};
use crate::wire::{
    agent_run::AgentRun,
    history_json,
    names::{AGENT_WORKFLOW, DEFAULT_TASK_QUEUE, ENGINE},
};

/// How long a decision may wait for an answer. A worker that was killed keeps the run for five seconds, and the answer
/// of the next worker must not get lost.
const DECISION_PATIENCE: Duration = Duration::from_secs(60);

/// The namespace if the settings name none.
const DEFAULT_NAMESPACE: &str = "default";

/// A client of the runs in one Temporal namespace, with the methods of [`RunClient`](neuron_engine::RunClient). Cheap
/// to clone.
#[derive(Clone)]
pub struct AgentClient {
    pub(super) client: Client,
    pub(super) address: String,
    pub(super) task_queue: String,
    pub(super) workflow: String,
    pub(super) decision_patience: Duration,
    /// Renews the key for as long as there is a client of the connection.
    _renewal: Option<Arc<KeyRenewal>>,
}

impl AgentClient {
    /// Connects as Temporal's own tools do: with `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`,
    /// `TEMPORAL_TLS_*` and `temporal.toml`. Default is `localhost:7233` and the namespace `default`. If
    /// `TEMPORAL_API_KEY_FILE` is set, the key is read from that file, and again every minute while there is a clone of the
    /// client.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Settings`] or [`RunClientError::Unreachable`].
    pub async fn connect() -> Result<Self, RunClientError> {
        let settings = Settings::from_environment()?;
        Self::connect_with(settings).await
    }

    /// As [`connect`](Self::connect), for a worker: its reports about steps are retried for this long while the server
    /// is away, or no request reaches it. A step is reported when the server is back, if that is within this time and
    /// within the step's heartbeat timeout less 11 s: the last heartbeat may be 5 s old when the server goes away, and
    /// a report that failed is retried after up to 6 s.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_worker(patience: Duration) -> Result<Self, RunClientError> {
        Self::connect_patiently(Settings::from_environment()?, patience).await
    }

    /// As [`connect_to`](Self::connect_to), for a worker, whose reports are retried as with
    /// [`connect_worker`](Self::connect_worker).
    ///
    /// # Errors
    ///
    /// As [`connect_to`](Self::connect_to).
    pub async fn connect_worker_to(
        address: &str,
        namespace: &str,
        patience: Duration,
    ) -> Result<Self, RunClientError> {
        Self::connect_patiently(Settings::of(address, namespace)?, patience).await
    }

    async fn connect_patiently(
        mut settings: Settings,
        patience: Duration,
    ) -> Result<Self, RunClientError> {
        patient(&mut settings.connection, patience);
        Self::connect_with(settings).await
    }

    /// Connects to the server at an address such as `localhost:7233`, without TLS and without a key.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Settings`] or [`RunClientError::Unreachable`].
    pub async fn connect_to(address: &str, namespace: &str) -> Result<Self, RunClientError> {
        Self::connect_with(Settings::of(address, namespace)?).await
    }

    /// Connects with these settings. Boxed, so that the SDK's client is compiled here once, and not in every program.
    fn connect_with(settings: Settings) -> RunFuture<'static, Self> {
        Box::pin(async move {
            let address = settings.connection.target.to_string();
            let connection = Connection::connect(settings.connection).await;
            let connection = connection.map_err(|error| fault::unreachable(&address, error))?;
            let client = Client::new(connection, settings.client);
            let client = client.map_err(|error| fault::unreachable(&address, error))?;
            let renewal = settings.key_file;
            let renewal = renewal.map(|file| KeyRenewal::begin(file, client.connection().clone()));
            Ok(Self {
                _renewal: renewal.map(Arc::new),
                ..Self::new(client, address)
            })
        })
    }

    /// Returns a client that uses an existing connection. Errors contain the address.
    #[must_use]
    pub fn new(client: Client, address: impl Into<String>) -> Self {
        Self {
            client,
            address: address.into(),
            task_queue: DEFAULT_TASK_QUEUE.to_owned(),
            workflow: AGENT_WORKFLOW.to_owned(),
            decision_patience: DECISION_PATIENCE,
            _renewal: None,
        }
    }

    /// Sets the task queue whose workers execute the runs that this client starts. Default is
    /// [`DEFAULT_TASK_QUEUE`].
    #[must_use]
    pub fn with_task_queue(mut self, task_queue: impl Into<String>) -> Self {
        self.task_queue = task_queue.into();
        self
    }

    /// Sets the workflow type of the runs that this client starts. Default is [`AGENT_WORKFLOW`], which runs one agent.
    /// Runs of a type that begins with that name and `:` are listed too, whichever client started them.
    #[must_use]
    pub fn with_workflow(mut self, workflow_type: impl Into<String>) -> Self {
        self.workflow = workflow_type.into();
        self
    }

    /// Sets how long a decision waits for a worker. Default is 60 seconds.
    #[must_use]
    pub const fn with_decision_patience(mut self, patience: Duration) -> Self {
        self.decision_patience = patience;
        self
    }

    /// Returns the SDK's client, for requests that this client does not offer.
    #[must_use]
    pub const fn temporal(&self) -> &Client {
        &self.client
    }

    /// Returns the server's address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the namespace that the client uses.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.client.options().namespace
    }

    /// Checks that the server answers.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`].
    #[must_use]
    pub fn check(&self) -> RunFuture<'_, ()> {
        Box::pin(async move {
            let mut service = self.client.connection().workflow_service();
            let answer = service
                .get_system_info(Request::new(GetSystemInfoRequest {}))
                .await;
            answer
                .map(drop)
                .map_err(|status| fault::unreachable(&self.address, status))
        })
    }

    /// Checks that the namespace exists and may be used.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`], or [`RunClientError::Failed`] if the server rejects the request.
    #[must_use]
    pub fn check_namespace(&self) -> RunFuture<'_, ()> {
        Box::pin(async move {
            let mut service = self.client.connection().workflow_service();
            let request = DescribeNamespaceRequest {
                namespace: self.namespace().to_owned(),
                ..DescribeNamespaceRequest::default()
            };
            let answer = service.describe_namespace(Request::new(request)).await;
            answer.map(drop).map_err(|status| self.rpc(status))
        })
    }

    /// Returns the run's newest history as JSON, in the form in which Temporal's own command and UI export it.
    /// [`Replay`](crate::Replay) reads it.
    ///
    /// # Errors
    ///
    /// [`RunClientError::UnknownRun`], [`RunClientError::Unreachable`] or [`RunClientError::Failed`].
    pub async fn export(&self, run_id: &RunId) -> Result<String, RunClientError> {
        self.export_of(run_id, self.handle(run_id)).await
    }

    /// As [`export`](Self::export), for one history of a run that continued as new, identified by Temporal's run id.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export).
    pub async fn export_history(
        &self,
        run_id: &RunId,
        history: &str,
    ) -> Result<String, RunClientError> {
        let handle = self.history(run_id, history.to_owned());
        self.export_of(run_id, handle).await
    }

    fn export_of<'a>(
        &'a self,
        run_id: &'a RunId,
        handle: WorkflowHandle<Client, AgentRun>,
    ) -> RunFuture<'a, String> {
        Box::pin(async move {
            let history = handle.fetch_history(Default::default());
            let events = history.into_events().await;
            let events = events.map_err(|error| self.interaction(run_id, error))?;
            history_json::to_json(&History { events }).map_err(failed)
        })
    }

    pub(super) fn handle(&self, run_id: &RunId) -> WorkflowHandle<Client, AgentRun> {
        self.client.get_workflow_handle::<AgentRun>(run_id.as_str())
    }

    /// Returns the error for a status of the server that callers do not expect.
    pub(super) fn rpc(&self, status: Status) -> RunClientError {
        if status.code() == Code::Unavailable {
            fault::unreachable(&self.address, status)
        } else {
            failed(status)
        }
    }

    pub(super) fn start_error(&self, run_id: &RunId, error: WorkflowStartError) -> RunClientError {
        match error {
            WorkflowStartError::AlreadyStarted { .. } => RunClientError::RunExists {
                run_id: run_id.clone(),
            },
            WorkflowStartError::Rpc(status) => self.rpc(status),
            error => failed(error),
        }
    }

    pub(super) fn interaction(
        &self,
        run_id: &RunId,
        error: WorkflowInteractionError,
    ) -> RunClientError {
        match error {
            WorkflowInteractionError::NotFound(_) => fault::unknown(run_id),
            WorkflowInteractionError::Rpc(status) => self.rpc(status),
            error => failed(error),
        }
    }

    pub(super) fn query_error(&self, run_id: &RunId, error: WorkflowQueryError) -> RunClientError {
        match error {
            WorkflowQueryError::NotFound(_) => fault::unknown(run_id),
            WorkflowQueryError::Rpc(status) if fault::says_no_worker(&status) => {
                fault::no_worker(run_id)
            }
            WorkflowQueryError::Rpc(status) => self.rpc(status),
            error => failed(error),
        }
    }
}

/// How to connect to a server.
struct Settings {
    connection: ConnectionOptions,
    client: ClientOptions,
    key_file: Option<ApiKeyFile>,
}

impl Settings {
    /// Returns the settings for a server at an address, without TLS and without a key.
    fn of(address: &str, namespace: &str) -> Result<Self, RunClientError> {
        let url: Url = format!("http://{address}")
            .parse()
            .map_err(fault::settings)?;
        Ok(Self {
            connection: ConnectionOptions::new(url).build(),
            client: ClientOptions::new(namespace).build(),
            key_file: None,
        })
    }

    /// Returns the settings of the environment and `temporal.toml`.
    fn from_environment() -> Result<Self, RunClientError> {
        // The SDK's own error cannot be sent to another thread.
        let unusable = |error: ConfigError| fault::settings(error.to_string());
        let options = LoadClientConfigProfileOptions::default();
        let mut profile = load_client_config_profile(options, None).map_err(unusable)?;
        let key_file = ApiKeyFile::from_environment();
        if let Some(file) = &key_file {
            profile.api_key = Some(file.read().map_err(fault::settings)?);
        }
        let namespace = profile.namespace.clone();
        let namespace = namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        Ok(Self {
            connection: profile.try_into().map_err(unusable)?,
            client: ClientOptions::new(namespace).build(),
            key_file,
        })
    }
}

impl fmt::Debug for AgentClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentClient")
            .field("engine", &ENGINE)
            .field("address", &self.address)
            .field("task_queue", &self.task_queue)
            .finish_non_exhaustive()
    }
}
