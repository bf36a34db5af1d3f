//! What the server knows of a run without a worker: its beginning and its end.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use neuron_engine::RunClientError;
use neuron_types::{
    ExitReason, FailureKind, Refusal, RunError, RunId, RunOutput, RunPhase, RunRequest, RunStatus,
    StepFailure,
};
use temporalio_client::{
    Client, WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowHandle,
    errors::WorkflowGetResultError,
};
use temporalio_common::error::IncomingError;
use temporalio_common::protos::temporal::api::history::v1::{
    WorkflowExecutionStartedEventAttributes, history_event::Attributes,
};

use super::{
    AgentClient,
    fault::{answered, failed, unknown},
};
use crate::wire::{agent_run::AgentRun, history_input::HistoryInput, names::ENGINE};

/// The most events of a history that no worker has taken up yet. A history with more signals than that counts as taken
/// up: the run's worker is asked, and does not answer.
const UNTOUCHED: usize = 32;

/// How a run ended: with an output, or without its agent, such as a run that was terminated.
type End = Result<RunOutput, Beside>;

/// How a run ended without an output.
pub(super) struct Beside {
    /// The reason in the server's words.
    how: String,
    /// The run's failure, if that is the reason.
    failure: Option<StepFailure>,
}

impl From<&str> for Beside {
    fn from(how: &str) -> Self {
        Self {
            how: how.to_owned(),
            failure: None,
        }
    }
}

impl From<&IncomingError> for Beside {
    fn from(error: &IncomingError) -> Self {
        let failure = match error {
            IncomingError::Application(failure) => failure.details().ok().flatten(),
            _ => None,
        };
        Self {
            how: format!("failed: {error}"),
            failure,
        }
    }
}

impl AgentClient {
    pub(super) async fn describe(
        &self,
        run_id: &RunId,
    ) -> Result<WorkflowExecutionDescription, RunClientError> {
        let described = self.handle(run_id).describe(Default::default()).await;
        described.map_err(|error| self.interaction(run_id, error))
    }

    /// Returns the input that the run was started with, if no worker has ever taken it up.
    pub(super) async fn untouched(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
    ) -> Result<Option<HistoryInput>, RunClientError> {
        if seen.history_length() > UNTOUCHED {
            return Ok(None);
        }
        let handle = self.handle(run_id);
        let mut history = handle.fetch_history(Default::default());
        let fault = |error| self.interaction(run_id, error);
        let mut started = None;
        while let Some(event) = history.try_next().await.map_err(fault)? {
            if event.event_type().as_str_name() == "EVENT_TYPE_WORKFLOW_TASK_COMPLETED" {
                return Ok(None);
            }
            if let Some(Attributes::WorkflowExecutionStartedEventAttributes(start)) =
                event.attributes
            {
                if !start.continued_execution_run_id.is_empty() {
                    // The run continued as new: an earlier history was taken up.
                    return Ok(None);
                }
                started = Some(input_of(&start));
            }
        }
        Ok(Some(started.unwrap_or_default()))
    }

    /// Returns the input of the run's newest history.
    pub(super) async fn newest_input(
        &self,
        run_id: &RunId,
    ) -> Result<HistoryInput, RunClientError> {
        let start = self.beginning(run_id, &self.handle(run_id)).await?;
        Ok(start.map_or_else(HistoryInput::default, |start| input_of(&start)))
    }

    /// Returns the request that the run was started with, from its first history; `None` if the server does not have
    /// that history any more, or another build wrote it.
    pub(super) async fn first_request(
        &self,
        run_id: &RunId,
    ) -> Result<Option<RunRequest>, RunClientError> {
        let Some(newest) = self.beginning(run_id, &self.handle(run_id)).await? else {
            return Ok(None);
        };
        if newest.continued_execution_run_id.is_empty() {
            return Ok(input_of(&newest).into_request());
        }
        let first = self.history(run_id, newest.first_execution_run_id);
        match self.beginning(run_id, &first).await {
            Ok(start) => Ok(start.and_then(|start| input_of(&start).into_request())),
            // The run exists: the server has deleted its first history.
            Err(error) if error.is_unknown_run() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the first event of a history.
    async fn beginning(
        &self,
        run_id: &RunId,
        handle: &WorkflowHandle<Client, AgentRun>,
    ) -> Result<Option<WorkflowExecutionStartedEventAttributes>, RunClientError> {
        let mut history = handle.fetch_history(Default::default());
        let first = history.try_next().await;
        let first = first.map_err(|error| self.interaction(run_id, error))?;
        Ok(match first.and_then(|event| event.attributes) {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(start)) => Some(start),
            _ => None,
        })
    }

    /// Waits for the run's end.
    pub(super) async fn end(&self, run_id: &RunId) -> Result<End, RunClientError> {
        let result = self.handle(run_id).get_result(Default::default()).await;
        Ok(Err(match result {
            Ok(output) => return Ok(Ok(output)),
            Err(WorkflowGetResultError::Failed(failure)) => Beside::from(&*failure),
            Err(WorkflowGetResultError::Cancelled { .. }) => "cancelled".into(),
            Err(WorkflowGetResultError::Terminated { .. }) => "terminated".into(),
            Err(WorkflowGetResultError::TimedOut) => "timed out".into(),
            Err(WorkflowGetResultError::NotFound(_)) => return Err(unknown(run_id)),
            Err(WorkflowGetResultError::Rpc(status)) => return Err(self.rpc(status)),
            Err(error) => return Err(failed(error)),
        }))
    }

    /// Returns the status of a run whose workflow is closed. `known` is the workflow's last status.
    pub(super) async fn last_status(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
        known: Option<RunStatus>,
    ) -> Result<RunStatus, RunClientError> {
        let mut status = match known {
            Some(status) => status,
            None => first_status(run_id, seen, &self.newest_input(run_id).await?),
        };
        status.updated_at = time(seen.close_time()).unwrap_or(status.updated_at);
        status.approvals.clear();
        status.blocked = None;
        match self.end(run_id).await? {
            Ok(output) => {
                status.agent = output.agent;
                status.state = output.state;
                status.turn = output.turns;
                status.usage = output.usage;
                status.cost_usd = output.cost_usd;
                status.last_message = output.output;
                status.error = output.error;
            }
            Err(Beside {
                failure: Some(failure),
                ..
            }) => {
                status.state = RunPhase::Failed;
                status.error = Some(RunError {
                    kind: failure.kind,
                    message: failure.message,
                });
            }
            Err(Beside { how, .. }) => {
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
        }
        Ok(status)
    }

    /// Returns the output of a run whose workflow ended, whether the workflow returned one or not.
    pub(super) async fn output_of(
        &self,
        run_id: &RunId,
        end: End,
    ) -> Result<RunOutput, RunClientError> {
        if let Ok(output) = end {
            return Ok(output);
        }
        let seen = self.describe(run_id).await?;
        let reason = match seen.status() {
            WorkflowExecutionStatus::Canceled => ExitReason::Cancelled,
            WorkflowExecutionStatus::Terminated | WorkflowExecutionStatus::TimedOut => {
                ExitReason::Terminated
            }
            _ => ExitReason::Failed,
        };
        let status = self.status_now(run_id).await?;
        Ok(status.output(Some(reason)))
    }

    /// Returns why a run takes nothing: the run is over, or does not exist.
    pub(super) async fn why_closed(&self, run_id: &RunId) -> RunClientError {
        let why = async {
            let seen = self.describe(run_id).await?;
            let status = answered(run_id, self.last_status(run_id, &seen, None)).await??;
            Ok(Refusal::RunOver {
                run_id: run_id.clone(),
                state: status.state,
            })
        };
        match why.await {
            Ok(over) => over.into(),
            Err(error) => error,
        }
    }
}

/// Returns the status of a run whose input is all that is known.
pub(super) fn first_status(
    run_id: &RunId,
    seen: &WorkflowExecutionDescription,
    input: &HistoryInput,
) -> RunStatus {
    let agent = match input.agent() {
        "" => {
            let summary = seen.static_summary().unwrap_or_default();
            summary.strip_prefix("agent ").unwrap_or(summary)
        }
        agent => agent,
    };
    let started_at = time(seen.start_time()).unwrap_or_default();
    RunStatus::new(run_id.clone(), ENGINE, agent, started_at).with_tags(&input.tags())
}

/// Returns the input of a history, as far as this build can read it.
fn input_of(start: &WorkflowExecutionStartedEventAttributes) -> HistoryInput {
    let payloads = start.input.iter().flat_map(|input| &input.payloads);
    let mut inputs = payloads.filter_map(|payload| serde_json::from_slice(&payload.data).ok());
    inputs.next().unwrap_or_default()
}

fn time(at: Option<SystemTime>) -> Option<DateTime<Utc>> {
    at.map(DateTime::from)
}
