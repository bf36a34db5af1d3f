//! What the server knows of a run without a worker: its beginning and its end.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use futures::TryStreamExt as _;
use neuron_engine::RunClientError;
use neuron_types::{
    ExitReason, FailureKind, Refusal, RunError, RunId, RunOutput, RunPhase, RunStatus,
};
use temporalio_client::{
    WorkflowExecutionDescription, WorkflowExecutionStatus, errors::WorkflowGetResultError,
};
use temporalio_common::protos::temporal::api::history::v1::history_event::Attributes;

use super::{
    AgentClient,
    fault::{answered, failed, unknown},
};
use crate::wire::names::ENGINE;

/// How many events a history has at most that no worker has taken up yet. With more signals than that the run's
/// worker is asked, and is not there.
const UNTOUCHED: usize = 32;

/// How a run ended: with an output, or beside its agent, as one that somebody terminated.
type End = Result<RunOutput, String>;

impl AgentClient {
    pub(super) async fn describe(
        &self,
        run_id: &RunId,
    ) -> Result<WorkflowExecutionDescription, RunClientError> {
        let described = self.handle(run_id).describe(Default::default()).await;
        described.map_err(|error| self.interaction(run_id, error))
    }

    /// Whether no worker has ever taken up the run.
    pub(super) async fn is_untouched(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
    ) -> Result<bool, RunClientError> {
        if seen.history_length() > UNTOUCHED {
            return Ok(false);
        }
        let handle = self.handle(run_id);
        let mut history = handle.fetch_history(Default::default());
        let fault = |error| self.interaction(run_id, error);
        while let Some(event) = history.try_next().await.map_err(fault)? {
            if let Some(Attributes::WorkflowExecutionStartedEventAttributes(start)) =
                &event.attributes
                && !start.continued_execution_run_id.is_empty()
            {
                // It continued as new: an earlier history was taken up.
                return Ok(false);
            }
            if event.event_type().as_str_name() == "EVENT_TYPE_WORKFLOW_TASK_COMPLETED" {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the run's end.
    pub(super) async fn end(&self, run_id: &RunId) -> Result<End, RunClientError> {
        let result = self.handle(run_id).get_result(Default::default()).await;
        Ok(Err(match result {
            Ok(output) => return Ok(Ok(output)),
            Err(WorkflowGetResultError::Failed(failure)) => format!("failed: {failure}"),
            Err(WorkflowGetResultError::Cancelled { .. }) => "cancelled".to_owned(),
            Err(WorkflowGetResultError::Terminated { .. }) => "terminated".to_owned(),
            Err(WorkflowGetResultError::TimedOut) => "timed out".to_owned(),
            Err(WorkflowGetResultError::NotFound(_)) => return Err(unknown(run_id)),
            Err(WorkflowGetResultError::Rpc(status)) => return Err(self.rpc(status)),
            Err(error) => return Err(failed(error)),
        }))
    }

    /// The status of a run whose workflow is closed. `known` is what the workflow said last.
    pub(super) async fn last_status(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
        known: Option<RunStatus>,
    ) -> Result<RunStatus, RunClientError> {
        let mut status = known.unwrap_or_else(|| first_status(run_id, seen));
        status.updated_at = time(seen.close_time()).unwrap_or(status.updated_at);
        status.approvals.clear();
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
            Err(how) => {
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

    /// The output of a run whose workflow ended, whether it has one of its own or not.
    pub(super) async fn output_of(
        &self,
        run_id: &RunId,
        end: End,
    ) -> Result<RunOutput, RunClientError> {
        if let Ok(output) = end {
            return Ok(output);
        }
        let status = self.status_now(run_id).await?;
        let reason = match status.state {
            RunPhase::Cancelled => ExitReason::Cancelled,
            _ => ExitReason::Failed,
        };
        Ok(status.output(Some(reason)))
    }

    /// Why a run takes nothing: it is over, or there is none.
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

/// The status of a run that no worker has taken up.
pub(super) fn first_status(run_id: &RunId, seen: &WorkflowExecutionDescription) -> RunStatus {
    let summary = seen.static_summary().unwrap_or_default();
    let agent = summary.strip_prefix("agent ").unwrap_or(summary);
    let started_at = time(seen.start_time()).unwrap_or_default();
    RunStatus::new(run_id.clone(), ENGINE, agent, started_at)
}

fn time(at: Option<SystemTime>) -> Option<DateTime<Utc>> {
    at.map(DateTime::from)
}
