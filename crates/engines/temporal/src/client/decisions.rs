//! Decisions about tickets, sent as updates: the update returns whether the run takes the decision.

use std::time::Duration;

use neuron_engine::{DecisionBody, RunClientError};
use neuron_types::{Decision, Refusal, RunId};
use serde_json::Value;
use temporalio_client::{
    WorkflowExecuteUpdateOptions, WorkflowExecutionStatus,
    errors::WorkflowUpdateError,
    tonic::{Code, Status},
};

use super::{
    AgentClient,
    fault::{failed, fits, no_worker, says_no_worker},
};
use crate::wire::{messages::RunUpdate, payload_limits::LARGEST_MESSAGE, update_id::update_id};

/// The delay before a decision that the server could not deliver is sent again.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// The delay before an update that arrived between two histories is sent again.
const BETWEEN_HISTORIES: Duration = Duration::from_millis(50);

impl AgentClient {
    /// Decides about a ticket. The update is repeated while no worker answers it, always under the same update id: the
    /// same decision, made twice, reaches the run once and is accepted twice. The server may keep a decision that no
    /// worker answered.
    pub(super) async fn decide_by_update(
        &self,
        run_id: &RunId,
        decision: &Decision,
    ) -> Result<(), RunClientError> {
        let update_id = update_id(run_id, decision).map_err(failed)?;
        let name = decision.verdict.as_str();
        let body = DecisionBody::from(decision.clone());
        let body = serde_json::to_value(body).map_err(failed)?;
        fits("the decision", &body, LARGEST_MESSAGE)?;
        let deciding = async {
            loop {
                let answer = self.update(run_id, name, &body, &update_id).await;
                match answer {
                    Err(WorkflowUpdateError::Rpc(status)) if may_be_asked_again(&status) => {
                        tokio::time::sleep(BETWEEN_TRIES).await;
                    }
                    answer => return answer,
                }
            }
        };
        let answer = tokio::time::timeout(self.decision_patience, deciding).await;
        match answer.map_err(|_| no_worker(run_id))? {
            Ok(_) => Ok(()),
            Err(WorkflowUpdateError::NotFound(_)) => Err(self.why_closed(run_id).await),
            Err(WorkflowUpdateError::Rpc(status)) if says_no_worker(&status) => {
                Err(no_worker(run_id))
            }
            Err(WorkflowUpdateError::Rpc(status)) => Err(self.rpc(status)),
            Err(WorkflowUpdateError::Failed(failure)) => {
                let known = Refusal::from_sentence(&failure.message, run_id, &decision.ticket);
                Err(match known {
                    Some(refusal) => refusal.into(),
                    None => RunClientError::rejected(failure.message),
                })
            }
            Err(error) => Err(failed(error)),
        }
    }

    async fn update(
        &self,
        run_id: &RunId,
        name: &'static str,
        body: &Value,
        update_id: &str,
    ) -> Result<Value, WorkflowUpdateError> {
        let options = WorkflowExecuteUpdateOptions::builder()
            // An update that is repeated reaches the run once.
            .update_id(update_id.to_owned())
            .build();
        let handle = self.handle(run_id);
        loop {
            let answer = handle
                .execute_update(RunUpdate(name), body.clone(), options.clone())
                .await;
            match answer {
                // The history ended before the update was part of it, and the run continues in another history.
                Err(WorkflowUpdateError::Rpc(status)) if status.code() == Code::Aborted => {}
                Err(WorkflowUpdateError::NotFound(_)) if self.is_open(run_id).await => {}
                answer => return answer,
            }
            tokio::time::sleep(BETWEEN_HISTORIES).await;
        }
    }

    async fn is_open(&self, run_id: &RunId) -> bool {
        let seen = self.describe(run_id).await;
        seen.is_ok_and(|seen| seen.status() == WorkflowExecutionStatus::Running)
    }
}

/// Returns whether the error disappears when a worker starts, or by itself.
fn may_be_asked_again(status: &Status) -> bool {
    says_no_worker(status) || status.code() == Code::Aborted
}
