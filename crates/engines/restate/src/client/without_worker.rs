//! What the server knows of a run without a worker: its beginning, what it showed last, and its end.

use neuron_engine::RunClientError;
use neuron_types::{
    ExitReason, FailureKind, Refusal, RunError, RunId, RunOutput, RunPhase, RunRequest, RunStatus,
};

use super::{
    RestateClient,
    fault::{HttpFault, failed, unknown},
    restate_client::End,
    tables::{Invocation, Shown},
};
use crate::wire::wrong_start;

/// The server's failure of an invocation that was cancelled and did not end by itself.
const CANCELLED: &str = "cancelled";

/// The server's failure of an invocation that was killed.
const KILLED: &str = "killed";

impl RestateClient {
    /// Returns the status as the server has it.
    pub(super) async fn kept_status(&self, run_id: &RunId) -> Result<RunStatus, RunClientError> {
        let shown = self.shown(std::slice::from_ref(run_id)).await;
        match shown.map_err(HttpFault::of_server)?.pop() {
            Some(Shown::Status(status)) => Ok(*status),
            Some(Shown::Unreadable) => Err(failed(unreadable(run_id))),
            _ => {
                let run = [(run_id.clone(), self.invocation(run_id).await?)];
                let status = self.first_statuses(&run).await;
                let status = status.map_err(HttpFault::of_server)?.pop();
                status.ok_or_else(|| unknown(run_id))
            }
        }
    }

    /// Returns the request that the run was started with, from the journal of its workflow; `None` if the server does
    /// not have that any more, or another build wrote it.
    pub(super) async fn first_request(
        &self,
        run_id: &RunId,
    ) -> Result<Option<RunRequest>, RunClientError> {
        let invocation = self.invocation(run_id).await?;
        let entries = self.first_entries(std::slice::from_ref(&invocation)).await;
        let entry = entries.map_err(HttpFault::of_server)?.pop();
        Ok(entry.and_then(|entry| entry.request()))
    }

    /// Returns whether the run exists and has shown nothing yet.
    pub(super) async fn is_untouched(&self, run_id: &RunId) -> Result<bool, RunClientError> {
        let shown = self.shown(std::slice::from_ref(run_id)).await;
        match shown.map_err(HttpFault::of_server)?.pop() {
            None | Some(Shown::Nothing) => self.invocation(run_id).await.map(|_| true),
            Some(_) => Ok(false),
        }
    }

    async fn invocation(&self, run_id: &RunId) -> Result<Invocation, RunClientError> {
        let this = format!("target_service_key = '{run_id}'");
        let found = self.invocations(&this, 1).await;
        let invocation = found.map_err(HttpFault::of_server)?.pop();
        invocation.ok_or_else(|| unknown(run_id))
    }

    /// Rejects requests for a run that is over: the server also knows that a run was killed.
    pub(super) async fn check_open(&self, run_id: &RunId) -> Result<(), RunClientError> {
        let Some(end) = self.end_if_any(run_id).await? else {
            return Ok(());
        };
        let state = match end {
            Ok(output) => output.state,
            Err(how) => phase_of(&how),
        };
        let run_id = run_id.clone();
        Err(Refusal::RunOver { run_id, state }.into())
    }

    /// Returns the output of a run that is over, whether the run returned one or not.
    pub(super) async fn output_of(
        &self,
        run_id: &RunId,
        end: End,
    ) -> Result<RunOutput, RunClientError> {
        match end {
            Ok(output) => Ok(output),
            Err(how) => {
                let status = self.kept_status(run_id).await?;
                let status = ended_beside(status, &how);
                let reason = match status.state {
                    RunPhase::Cancelled => ExitReason::Cancelled,
                    _ if how.ends_with(KILLED) && wrong_start::read(&how).is_none() => {
                        ExitReason::Terminated
                    }
                    _ => ExitReason::Failed,
                };
                Ok(status.output(Some(reason)))
            }
        }
    }
}

/// Returns the status of a run that ended without its agent, such as a run that was killed.
pub(super) fn ended_beside(mut status: RunStatus, how: &str) -> RunStatus {
    if status.state.is_final() {
        return status;
    }
    status.state = phase_of(how);
    status.approvals.clear();
    status.blocked = None;
    status.error = Some(wrong_start::read(how).unwrap_or_else(|| RunError {
        kind: match status.state {
            RunPhase::Cancelled => FailureKind::Cancelled,
            _ => FailureKind::Internal,
        },
        message: format!("its invocation ended without an output ({how})"),
    }));
    status
}

/// Returns the phase of a run that ended like this.
fn phase_of(how: &str) -> RunPhase {
    // The message about a rejected start may end with the same word.
    if how.ends_with(CANCELLED) && wrong_start::read(how).is_none() {
        RunPhase::Cancelled
    } else {
        RunPhase::Failed
    }
}

pub(super) fn unreadable(run_id: &RunId) -> String {
    format!("the status of run {run_id} was written by a worker of another version")
}
