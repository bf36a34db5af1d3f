//! Starting runs, following them and reaching into them.

use std::{fmt, future::Future, time::Duration};

use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use neuron_types::{RunId, RunInput, RunOutput, signal};
use serde::Serialize;
use serde_json::{Value, json};
use temporalio_client::{
    Client, ClientOptions, Connection, WorkflowExecutionStatus, WorkflowHandle,
    WorkflowIdReusePolicy, WorkflowListOptions, WorkflowStartOptions,
    envconfig::LoadClientConfigProfileOptions,
    errors::{WorkflowGetResultError, WorkflowInteractionError, WorkflowStartError},
    tonic::{Code, Request, Status},
};
use temporalio_common::protos::temporal::api::{
    history::v1::History, workflowservice::v1::GetSystemInfoRequest,
};

use crate::{
    AGENT_WORKFLOW, ClientError,
    carried::json_bytes,
    export,
    host::AgentRun,
    messages::{CancelReason, RunSignal},
    size::{LARGEST_MESSAGE, LARGEST_PAYLOAD},
};

/// A worker that has taken up a run and is silent for so long is lost. It also bounds how long a call that is
/// made in the run's own worker keeps signals waiting: it reports after four fifths of this.
const TASK_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a worker may take for an answer: longer than a run stays with a worker that was killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a decision may take to be answered. A worker that was killed has the run for five seconds more, and
/// what another makes of it must not get lost.
const DECISION_PATIENCE: Duration = Duration::from_secs(60);

/// Speaks with the runs on one Temporal namespace. Cheap to clone.
#[derive(Clone)]
pub struct AgentClient {
    client: Client,
    address: String,
    pub(crate) decision_patience: Duration,
}

/// One run as Temporal lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedRun {
    /// The run.
    pub run_id: RunId,
    /// It has not ended.
    pub running: bool,
    /// When it started, or its newest history did.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

impl AgentClient {
    /// Connects as Temporal's own tools do: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`,
    /// `TEMPORAL_TLS_*` and `temporal.toml`. Default is `localhost:7233` and the namespace `default`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Settings`] or [`ClientError::Unreachable`].
    pub async fn connect() -> Result<Self, ClientError> {
        let (connection, options) =
            ClientOptions::load_from_config(LoadClientConfigProfileOptions::default()).map_err(
                // The SDK's own error cannot be sent to another thread.
                |error| ClientError::Settings {
                    source: error.to_string().into(),
                },
            )?;
        let address = connection.target.to_string();
        let unreachable = |source| ClientError::Unreachable {
            address: address.clone(),
            source,
        };
        let connection = Connection::connect(connection)
            .await
            .map_err(|source| unreachable(source.into()))?;
        let client =
            Client::new(connection, options).map_err(|source| unreachable(source.into()))?;
        Ok(Self::new(client, address))
    }

    /// A client over a connection that is there already.
    #[must_use]
    pub fn new(client: Client, address: impl Into<String>) -> Self {
        Self {
            client,
            address: address.into(),
            decision_patience: DECISION_PATIENCE,
        }
    }

    /// Sets how long [`decide`](Self::decide) waits for a worker. Default is 60 seconds.
    #[must_use]
    pub const fn with_decision_patience(mut self, patience: Duration) -> Self {
        self.decision_patience = patience;
        self
    }

    /// The SDK's client, for what this one does not offer.
    #[must_use]
    pub fn temporal(&self) -> &Client {
        &self.client
    }

    /// Where the server is.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The namespace that it speaks with.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.client.options().namespace
    }

    /// Asks the server whether it is there.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unreachable`].
    pub async fn check(&self) -> Result<(), ClientError> {
        let mut service = self.client.connection().workflow_service();
        let answer = service
            .get_system_info(Request::new(GetSystemInfoRequest {}))
            .await;
        answer.map(drop).map_err(|status| ClientError::Unreachable {
            address: self.address.clone(),
            source: status.into(),
        })
    }

    /// Starts a run of the workflow [`AGENT_WORKFLOW`] on a task queue.
    ///
    /// # Errors
    ///
    /// [`ClientError::RunExists`], also for a run that is over, [`ClientError::TooLarge`] or
    /// [`ClientError::Temporal`].
    pub async fn start(
        &self,
        run_id: &RunId,
        input: RunInput,
        task_queue: &str,
    ) -> Result<(), ClientError> {
        fits("the agent with its prompt", &input, LARGEST_PAYLOAD)?;
        let workflow = AgentRun {
            name: AGENT_WORKFLOW.to_owned(),
        };
        let options = WorkflowStartOptions::new(task_queue, run_id.as_str())
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .task_timeout(TASK_TIMEOUT)
            .static_summary(format!("agent {}", input.agent.name))
            .build();
        match self
            .client
            .start_workflow(workflow, input.into(), options)
            .await
        {
            Ok(_) => Ok(()),
            Err(WorkflowStartError::AlreadyStarted { .. }) => Err(ClientError::RunExists {
                run_id: run_id.clone(),
            }),
            Err(error) => Err(ClientError::temporal(error)),
        }
    }

    /// Waits until the run ends, and gives its output.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotThere`], [`ClientError::Ended`] for a run that somebody terminated or that failed
    /// beside its agent, or [`ClientError::Temporal`].
    pub async fn wait(&self, run_id: &RunId) -> Result<RunOutput, ClientError> {
        let ended = |how: String| ClientError::Ended {
            run_id: run_id.clone(),
            how,
        };
        let result = self.handle(run_id).get_result(Default::default()).await;
        result.map_err(|error| match error {
            WorkflowGetResultError::NotFound(_) => not_there(run_id),
            WorkflowGetResultError::Failed(failure) => ended(format!("failed: {failure}")),
            WorkflowGetResultError::Cancelled { .. } => ended("cancelled".to_owned()),
            WorkflowGetResultError::Terminated { .. } => ended("terminated".to_owned()),
            WorkflowGetResultError::TimedOut => ended("timed out".to_owned()),
            error => ClientError::temporal(error),
        })
    }

    /// Sends any signal. No worker is needed, and nobody says whether the run has a use for it.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotThere`], [`ClientError::TooLarge`] or [`ClientError::Temporal`].
    pub async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), ClientError> {
        fits("the signal", &payload, LARGEST_MESSAGE)?;
        self.handle(run_id)
            .signal(RunSignal(name.to_owned()), payload, Default::default())
            .await
            .map_err(|error| interaction(run_id, error))
    }

    /// Cancels the run: its steps in flight are ended. No worker is needed to ask for it.
    ///
    /// # Errors
    ///
    /// As [`signal`](Self::signal).
    pub async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), ClientError> {
        let payload = json!(CancelReason { reason });
        self.signal(run_id, signal::CANCEL, payload).await
    }

    /// The newest runs, at most `limit`. Temporal lists a run a moment after it started.
    ///
    /// # Errors
    ///
    /// [`ClientError::Temporal`].
    pub async fn list(&self, limit: usize) -> Result<Vec<ListedRun>, ClientError> {
        // A run that was rolled over has several histories. The newest stands for it.
        let query =
            format!("WorkflowType = '{AGENT_WORKFLOW}' AND ExecutionStatus != 'ContinuedAsNew'");
        let options = WorkflowListOptions::builder().limit(limit).build();
        let listed: Vec<_> = self
            .client
            .list_workflows(query, options)
            .try_collect()
            .await
            .map_err(ClientError::temporal)?;
        let runs = listed.iter().filter_map(|run| {
            Some(ListedRun {
                // Somebody may have started a workflow of this type under a name that is no run id.
                run_id: RunId::new(run.id()).ok()?,
                running: run.status() == WorkflowExecutionStatus::Running,
                started_at: run.start_time().map(DateTime::from),
                ended_at: run.close_time().map(DateTime::from),
            })
        });
        Ok(runs.collect())
    }

    /// The run's newest history as JSON, in the form in which Temporal's own command and UI export it.
    /// [`Replay`](crate::Replay) reads it.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotThere`] or [`ClientError::Temporal`].
    pub async fn export(&self, run_id: &RunId) -> Result<String, ClientError> {
        export(run_id, &self.handle(run_id)).await
    }

    /// As [`export`](Self::export), for one history of a run that was rolled over, by the run id that Temporal
    /// gave it.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export).
    pub async fn export_history(
        &self,
        run_id: &RunId,
        history: &str,
    ) -> Result<String, ClientError> {
        export(run_id, &self.history(run_id, history.to_owned())).await
    }

    pub(crate) fn handle(&self, run_id: &RunId) -> WorkflowHandle<Client, AgentRun> {
        self.client.get_workflow_handle::<AgentRun>(run_id.as_str())
    }
}

async fn export(
    run_id: &RunId,
    handle: &WorkflowHandle<Client, AgentRun>,
) -> Result<String, ClientError> {
    let history = handle.fetch_history(Default::default());
    let events = history
        .into_events()
        .await
        .map_err(|error| interaction(run_id, error))?;
    export::to_json(&History { events }).map_err(ClientError::temporal)
}

impl fmt::Debug for AgentClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentClient")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

pub(crate) fn not_there(run_id: &RunId) -> ClientError {
    ClientError::NotThere {
        run_id: run_id.clone(),
    }
}

pub(crate) fn no_worker(run_id: &RunId) -> ClientError {
    ClientError::NoWorker {
        run_id: run_id.clone(),
    }
}

/// What the server answers when it has waited for a worker, or knows that there is none.
pub(crate) fn says_no_worker(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::DeadlineExceeded | Code::FailedPrecondition
    )
}

/// Waits for a worker's answer as long as a person would.
pub(crate) async fn answered<T>(
    run_id: &RunId,
    asked: impl Future<Output = T>,
) -> Result<T, ClientError> {
    tokio::time::timeout(PATIENCE, asked)
        .await
        .map_err(|_| no_worker(run_id))
}

/// Refuses what Temporal would not take.
pub(crate) fn fits(
    what: &'static str,
    payload: &impl Serialize,
    most: usize,
) -> Result<(), ClientError> {
    let bytes = json_bytes(payload).map_err(ClientError::temporal)?;
    if bytes > most {
        return Err(ClientError::TooLarge { what, bytes, most });
    }
    Ok(())
}

fn interaction(run_id: &RunId, error: WorkflowInteractionError) -> ClientError {
    match error {
        WorkflowInteractionError::NotFound(_) => not_there(run_id),
        error => ClientError::temporal(error),
    }
}
