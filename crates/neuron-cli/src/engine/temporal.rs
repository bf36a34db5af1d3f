//! Runs that workers on a Temporal task queue execute.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use neuron_runtime::OpenTicket;
use neuron_temporal::{AgentClient, AgentRun, ClientError};
use neuron_types::{
    Decision, ExitReason, FailureKind, RecordedEvent, RunError, RunId, RunInput, RunOutput,
    RunPhase, RunStatus, UserMessage, signal,
};
use serde_json::{Value, json};
use temporalio_client::{
    Client, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowHandle,
    errors::WorkflowInteractionError,
};
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;

use super::{EngineError, task_queue, tickets};
use crate::{CliError, args::EngineName, output::note};

/// How many runs are asked about at once.
const AT_ONCE: usize = 16;

/// Of how many runs at most the tickets are looked for.
const MOST_RUNS: u32 = 1000;

/// How long a worker may take to tell of a run that is over.
const CLOSED_PATIENCE: Duration = Duration::from_secs(2);

/// How many events a history has at most that no worker has taken up yet. With more signals than that the
/// run's worker is asked, and is not there.
const UNTOUCHED: usize = 32;

/// A Temporal namespace, and the task queue whose workers run agents.
#[derive(Debug, Clone)]
pub(crate) struct Temporal {
    client: AgentClient,
}

impl Temporal {
    pub(super) async fn connect() -> Result<Self, EngineError> {
        let client = AgentClient::connect().await.map_err(translated)?;
        Ok(Self { client })
    }

    pub(super) async fn start(&self, run_id: &RunId, input: RunInput) -> Result<(), CliError> {
        let queue = task_queue();
        let started = self.client.start(run_id, input, &queue).await;
        Ok(started.map_err(translated)?)
    }

    pub(super) async fn status(&self, run_id: &RunId) -> Result<RunStatus, CliError> {
        let seen = self.describe(run_id).await?;
        if seen.status() == WorkflowExecutionStatus::Running {
            return if self.is_untouched(run_id, &seen).await? {
                Ok(first_status(run_id, &seen))
            } else {
                self.read(run_id, async || self.client.status(run_id).await)
                    .await
            };
        }
        // Its end is known without a worker, and better than by one if somebody terminated it.
        let told = tokio::time::timeout(CLOSED_PATIENCE, self.client.status(run_id)).await;
        match told {
            Ok(Ok(status)) if status.state.is_final() => Ok(status),
            told => {
                let told = told.ok().and_then(Result::ok);
                self.last_status(run_id, &seen, told).await
            }
        }
    }

    pub(super) async fn events(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, CliError> {
        let seen = self.describe(run_id).await?;
        if self.is_untouched(run_id, &seen).await? {
            return Ok(Vec::new());
        }
        self.read(run_id, async || {
            self.client.events_after(run_id, after).await
        })
        .await
    }

    pub(super) async fn output(&self, run_id: &RunId) -> Result<RunOutput, CliError> {
        match self.client.wait(run_id).await {
            Err(ClientError::Ended { .. }) => {
                let status = self.status(run_id).await?;
                let reason = match status.state {
                    RunPhase::Cancelled => ExitReason::Cancelled,
                    _ => ExitReason::Failed,
                };
                Ok(status.output(Some(reason)))
            }
            Err(ClientError::NotThere { run_id }) => Err(EngineError::UnknownRun { run_id }.into()),
            other => Ok(other.map_err(translated)?),
        }
    }

    pub(super) async fn ended(&self, run_id: &RunId) {
        // What keeps it from being said, whoever looks at the run will see.
        self.client.wait(run_id).await.ok();
    }

    pub(super) async fn runs(&self, limit: u32) -> Result<Vec<RunStatus>, CliError> {
        let listed = self.list(limit).await?;
        let mut runs = self
            .statuses(listed.into_iter().map(|(run_id, _)| run_id))
            .await?;
        // Temporal goes by the start of the newest history.
        runs.sort_by_key(|run| std::cmp::Reverse(run.started_at));
        Ok(runs)
    }

    pub(super) async fn approvals(
        &self,
        run_id: Option<&RunId>,
    ) -> Result<Vec<OpenTicket>, CliError> {
        if let Some(run_id) = run_id {
            return Ok(tickets([self.status(run_id).await?]));
        }
        let listed = self.list(MOST_RUNS).await?;
        let running = listed.into_iter().filter(|(_, running)| *running);
        // The oldest first: they have waited longest.
        let run_ids: Vec<_> = running.map(|(run_id, _)| run_id).rev().collect();
        Ok(tickets(self.statuses(run_ids).await?))
    }

    pub(super) async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), CliError> {
        let asked = self.client.decide(run_id, decision.clone());
        self.ask(run_id, asked).await
    }

    pub(super) async fn send(&self, run_id: &RunId, message: UserMessage) -> Result<(), CliError> {
        // As a signal: it is kept also when no worker is there.
        let payload = json!({ "text": message.text });
        self.ask(
            run_id,
            self.client.signal(run_id, signal::USER_MESSAGE, payload),
        )
        .await
    }

    pub(super) async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), CliError> {
        let misfit = |source| EngineError::BadSignal {
            name: name.to_owned(),
            source,
        };
        match name {
            signal::DECISION => {
                let decision = serde_json::from_value(payload).map_err(misfit)?;
                self.decide(run_id, &decision).await
            }
            signal::USER_MESSAGE => {
                let message = serde_json::from_value(payload).map_err(misfit)?;
                self.send(run_id, message).await
            }
            _ => {
                self.ask(run_id, self.client.signal(run_id, name, payload))
                    .await
            }
        }
    }

    pub(super) async fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> Result<RunPhase, CliError> {
        self.ask(run_id, self.client.cancel(run_id, reason)).await?;
        Ok(RunPhase::Running)
    }

    /// Asks a worker something that changes nothing. Twice: a worker that was killed has the run for five seconds
    /// more, and another may then have to replay it.
    async fn read<T>(
        &self,
        run_id: &RunId,
        ask: impl AsyncFn() -> Result<T, ClientError>,
    ) -> Result<T, CliError> {
        match ask().await {
            Err(ClientError::NoWorker { .. }) => self.ask(run_id, ask()).await,
            answer => self.ask(run_id, std::future::ready(answer)).await,
        }
    }

    /// Waits for an answer, and says what its failing means.
    async fn ask<T>(
        &self,
        run_id: &RunId,
        asked: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, CliError> {
        match asked.await {
            Ok(answer) => Ok(answer),
            Err(ClientError::NotThere { .. }) => {
                let seen = self.describe(run_id).await?;
                let status = self.last_status(run_id, &seen, None).await?;
                Err(EngineError::RunOver {
                    run_id: run_id.clone(),
                    state: status.state,
                }
                .into())
            }
            Err(error) => Err(translated(error).into()),
        }
    }

    fn handle(&self, run_id: &RunId) -> WorkflowHandle<Client, AgentRun> {
        let client = self.client.temporal();
        client.get_workflow_handle(run_id.as_str())
    }

    async fn describe(&self, run_id: &RunId) -> Result<WorkflowExecutionDescription, EngineError> {
        self.handle(run_id)
            .describe(Default::default())
            .await
            .map_err(|error| match error {
                WorkflowInteractionError::NotFound(_) => EngineError::UnknownRun {
                    run_id: run_id.clone(),
                },
                error => failed(error),
            })
    }

    /// Whether no worker has ever taken up the run.
    async fn is_untouched(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
    ) -> Result<bool, EngineError> {
        if seen.history_length() > UNTOUCHED {
            return Ok(false);
        }
        let handle = self.handle(run_id);
        let mut history = handle.fetch_history(Default::default());
        while let Some(event) = history.try_next().await.map_err(failed)? {
            if let Some(Attributes::WorkflowExecutionStartedEventAttributes(start)) =
                &event.attributes
                && !start.continued_execution_run_id.is_empty()
            {
                // It was rolled over: an earlier history was taken up.
                return Ok(false);
            }
            if event.event_type().as_str_name() == "EVENT_TYPE_WORKFLOW_TASK_COMPLETED" {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The status of a run whose workflow is closed, without a worker. `told` is what the workflow said last.
    async fn last_status(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
        told: Option<RunStatus>,
    ) -> Result<RunStatus, CliError> {
        let mut status = told.unwrap_or_else(|| first_status(run_id, seen));
        status.updated_at = time(seen.close_time()).unwrap_or(status.updated_at);
        status.approvals.clear();
        match self.client.wait(run_id).await {
            Ok(output) => {
                status.agent = output.agent;
                status.state = output.state;
                status.turn = output.turns;
                status.usage = output.usage;
                status.cost_usd = output.cost_usd;
                status.last_message = output.output;
                status.error = output.error;
            }
            Err(ClientError::Ended { how, .. }) => {
                let (state, kind) = match seen.status() {
                    WorkflowExecutionStatus::Canceled => {
                        (RunPhase::Cancelled, FailureKind::Cancelled)
                    }
                    _ => (RunPhase::Failed, FailureKind::Internal),
                };
                status.state = state;
                let message = format!("its workflow ended without an output ({how})");
                status.error = Some(RunError { kind, message });
            }
            Err(error) => return Err(translated(error).into()),
        }
        Ok(status)
    }

    /// The newest runs, and whether they go on.
    async fn list(&self, limit: u32) -> Result<Vec<(RunId, bool)>, EngineError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let listed = self.client.list(limit).await.map_err(translated)?;
        let mut runs: Vec<(RunId, bool)> = Vec::with_capacity(listed.len());
        for run in listed {
            // Temporal tells of the end of a history and of the next one's start one after the other.
            if !runs.iter().any(|(run_id, _)| *run_id == run.run_id) {
                runs.push((run.run_id, run.running));
            }
        }
        Ok(runs)
    }

    /// The statuses of runs, in their order. A run for which no worker answers is left out.
    async fn statuses(
        &self,
        run_ids: impl IntoIterator<Item = RunId>,
    ) -> Result<Vec<RunStatus>, CliError> {
        let asked = run_ids.into_iter().map(|run_id| async move {
            match self.status(&run_id).await {
                Ok(status) => Ok(Some(status)),
                Err(CliError::Engine(error @ EngineError::NoWorker { .. })) => {
                    note(&error.to_string());
                    Ok(None)
                }
                // It was deleted meanwhile.
                Err(CliError::Engine(EngineError::UnknownRun { .. })) => Ok(None),
                Err(error) => Err(error),
            }
        });
        let answers = stream::iter(asked).buffered(AT_ONCE);
        answers
            .try_filter_map(|status| std::future::ready(Ok(status)))
            .try_collect()
            .await
    }
}

/// The status of a run that no worker has taken up.
fn first_status(run_id: &RunId, seen: &WorkflowExecutionDescription) -> RunStatus {
    let summary = seen.static_summary().unwrap_or_default();
    let agent = summary.strip_prefix("agent ").unwrap_or(summary);
    let started_at = time(seen.start_time()).unwrap_or_default();
    RunStatus::new(
        run_id.clone(),
        EngineName::Temporal.as_str(),
        agent,
        started_at,
    )
}

fn time(at: Option<SystemTime>) -> Option<DateTime<Utc>> {
    at.map(DateTime::from)
}

fn translated(error: ClientError) -> EngineError {
    match error {
        ClientError::Unreachable { address, source } => EngineError::Unreachable {
            engine: EngineName::Temporal,
            address,
            variable: "TEMPORAL_ADDRESS",
            source,
        },
        ClientError::RunExists { run_id } => EngineError::RunExists { run_id },
        ClientError::NoWorker { run_id } => EngineError::NoWorker {
            run_id,
            worker: "neuron-temporal-worker",
        },
        ClientError::Refused { reason } => EngineError::Refused(reason),
        ClientError::Temporal { source } => failed(source),
        ClientError::Settings { source } => EngineError::Settings(
            "the settings for Temporal cannot be used: check TEMPORAL_ADDRESS, the other TEMPORAL_ variables and \
             temporal.toml"
                .to_owned(),
            source,
        ),
        other => failed(other),
    }
}

fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EngineError {
    EngineError::Failed {
        engine: EngineName::Temporal,
        source: source.into(),
    }
}
