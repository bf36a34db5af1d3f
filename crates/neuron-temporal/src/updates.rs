//! Reaching into a run by update: whoever asks is told what came of it.

use std::time::Duration;

use neuron_types::{Decision, Refusal, RunId, RunOutput, UserMessage, Verdict};
use serde_json::Value;
use temporalio_client::{
    WorkflowExecuteUpdateOptions, WorkflowExecutionStatus,
    errors::WorkflowUpdateError,
    tonic::{Code, Status},
};
use uuid::Uuid;

use crate::{
    AgentClient, ClientError,
    client::{answered, fits, no_worker, not_there, says_no_worker},
    decision,
    messages::{self, RunUpdate, Verdictless},
    size::LARGEST_MESSAGE,
};

/// How long it takes until a decision that the server could not pass on is made again.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// How long it takes until an update is made again that came between two histories.
const BETWEEN_HISTORIES: Duration = Duration::from_millis(50);

impl AgentClient {
    /// Answers a ticket. While no worker answers it is asked again, for up to a minute
    /// ([`with_decision_patience`](Self::with_decision_patience)), always under the same update id: the same
    /// decision, made twice, reaches the run once and is accepted twice.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] for an unknown, expired or used ticket, for a wrong digest and for a run that
    /// is over, as [`Refusal`](neuron_types::Refusal) says it: the run is none the worse.
    /// [`ClientError::NotThere`], [`ClientError::Temporal`], or [`ClientError::NoWorker`]: the server may keep
    /// the decision until there is a worker.
    pub async fn decide(&self, run_id: &RunId, decision: Decision) -> Result<(), ClientError> {
        let update_id = decision::update_id(run_id, &decision).map_err(ClientError::temporal)?;
        let Decision {
            ticket,
            digest,
            verdict,
            args,
            comment,
            approver,
            remember,
        } = decision;
        let name = match verdict {
            Verdict::Approve => messages::APPROVE,
            Verdict::Deny => messages::DENY,
        };
        let asked = Verdictless {
            ticket,
            digest,
            args,
            comment,
            approver,
            remember,
        };
        let asked = serde_json::to_value(asked).map_err(ClientError::temporal)?;
        fits("the decision", &asked, LARGEST_MESSAGE)?;
        let asking = async {
            loop {
                let answer = self.update(run_id, name, &asked, Some(update_id.clone()));
                match answer.await {
                    Err(WorkflowUpdateError::Rpc(status)) if may_be_asked_again(&status) => {
                        tokio::time::sleep(BETWEEN_TRIES).await;
                    }
                    answer => return answer,
                }
            }
        };
        let answer = tokio::time::timeout(self.decision_patience, asking).await;
        self.taken(run_id, answer.map_err(|_| no_worker(run_id))?)
            .await
    }

    /// Queues a message, which the run takes up at the next turn boundary.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`], [`ClientError::NotThere`], [`ClientError::NoWorker`] or
    /// [`ClientError::Temporal`].
    pub async fn send(&self, run_id: &RunId, message: UserMessage) -> Result<(), ClientError> {
        let asked = serde_json::to_value(message).map_err(ClientError::temporal)?;
        fits("the message", &asked, LARGEST_MESSAGE)?;
        let answer = answered(run_id, self.update(run_id, messages::SEND, &asked, None)).await?;
        self.taken(run_id, answer).await
    }

    async fn update(
        &self,
        run_id: &RunId,
        name: &'static str,
        asked: &Value,
        update_id: Option<String>,
    ) -> Result<Value, WorkflowUpdateError> {
        let options = WorkflowExecuteUpdateOptions::builder()
            // One that is made again reaches the run once.
            .update_id(update_id.unwrap_or_else(|| Uuid::new_v4().to_string()))
            .build();
        let handle = self.handle(run_id);
        loop {
            let answer = handle
                .execute_update(RunUpdate(name), asked.clone(), options.clone())
                .await;
            match answer {
                // The history ended before the update came into it, and the run goes on in another.
                Err(WorkflowUpdateError::Rpc(status)) if status.code() == Code::Aborted => {}
                Err(WorkflowUpdateError::NotFound(_)) if self.is_open(run_id).await => {}
                answer => return answer,
            }
            tokio::time::sleep(BETWEEN_HISTORIES).await;
        }
    }

    async fn is_open(&self, run_id: &RunId) -> bool {
        let described = self.handle(run_id).describe(Default::default()).await;
        described.is_ok_and(|run| run.status() == WorkflowExecutionStatus::Running)
    }

    /// What the run's answer to an update means.
    async fn taken(
        &self,
        run_id: &RunId,
        answer: Result<Value, WorkflowUpdateError>,
    ) -> Result<(), ClientError> {
        match answer {
            Ok(_) => Ok(()),
            Err(WorkflowUpdateError::NotFound(_)) => Err(self.why_closed(run_id).await),
            Err(WorkflowUpdateError::Rpc(status)) if says_no_worker(&status) => {
                Err(no_worker(run_id))
            }
            Err(WorkflowUpdateError::Failed(failure)) => Err(ClientError::Refused {
                reason: failure.message,
            }),
            Err(error) => Err(ClientError::temporal(error)),
        }
    }

    /// Why a run takes no update: it is over, or it is not there.
    async fn why_closed(&self, run_id: &RunId) -> ClientError {
        match answered(run_id, self.wait(run_id)).await {
            Ok(Ok(RunOutput { state, .. })) => {
                let run_id = run_id.clone();
                let reason = Refusal::RunOver { run_id, state }.to_string();
                ClientError::Refused { reason }
            }
            _ => not_there(run_id),
        }
    }
}

/// What passes when a worker comes, or by itself.
fn may_be_asked_again(status: &Status) -> bool {
    says_no_worker(status) || matches!(status.code(), Code::Unavailable | Code::Aborted)
}
