use std::{future::Future, time::Duration};

use neuron_engine::{
    AgentSignal, CancelBody, EventPage, PageRequest, RunClient, RunClientError, RunFilter,
    RunFuture, RunPage,
};
use neuron_types::{
    Decision, Place, RunId, RunOutput, RunPhase, RunRequest, RunStatus, Transcript, UserMessage,
    signal,
};
use serde_json::{Value, json};
use temporalio_client::{
    WorkflowExecutionStatus, WorkflowIdReusePolicy, WorkflowStartOptions,
    errors::WorkflowInteractionError,
};

use super::{
    AgentClient, failing::with_failing_step, fault::fits, memo, without_worker::first_status,
};
use crate::wire::{
    agent_run::AgentRun,
    fairness,
    messages::RunSignal,
    names::ENGINE,
    payload_limits::{LARGEST_MESSAGE, LARGEST_PAYLOAD},
};

/// How long a worker may take to answer about a run that is over.
const CLOSED_PATIENCE: Duration = Duration::from_secs(2);

/// Client of runs of the workflow [`AGENT_WORKFLOW`](crate::AGENT_WORKFLOW), and of the client's
/// [own](AgentClient::with_workflow).
///
/// Messages, cancellations and other signals need no worker: the server keeps them. A status needs a worker only while
/// the run is under way. A decision waits for a worker for up to a minute
/// ([`with_decision_patience`](AgentClient::with_decision_patience)); if the same decision is made again, it is
/// accepted again.
impl RunClient for AgentClient {
    fn engine(&self) -> &'static str {
        ENGINE
    }

    fn place(&self) -> Place {
        Place::Temporal {
            namespace: self.namespace().to_owned(),
        }
    }

    fn start<'a>(&'a self, run_id: &'a RunId, request: RunRequest) -> RunFuture<'a, ()> {
        Box::pin(async move {
            fits("the agent with its prompt", &request, LARGEST_PAYLOAD)?;
            let workflow = AgentRun {
                name: self.workflow.clone(),
            };
            let options = WorkflowStartOptions::new(&self.task_queue, run_id.as_str())
                .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
                .static_summary(format!("agent {}", request.agent.name()))
                .priority(fairness::priority(None, request.tags.tenant.as_deref()))
                .maybe_memo(memo::of(&request.tags))
                .build();
            let started = self
                .client
                .start_workflow(workflow, request.into(), options);
            let started = started.await.map(drop);
            started.map_err(|error| self.start_error(run_id, error))
        })
    }

    fn request<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunRequest>> {
        Box::pin(self.first_request(run_id))
    }

    fn status<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunStatus> {
        Box::pin(self.status_now(run_id))
    }

    fn events<'a>(
        &'a self,
        run_id: &'a RunId,
        after: u64,
        limit: usize,
    ) -> RunFuture<'a, EventPage> {
        Box::pin(async move {
            let seen = self.describe(run_id).await?;
            if self.untouched(run_id, &seen).await?.is_some() {
                return Ok(EventPage::default());
            }
            twice(|| self.worker_events(run_id, after, limit.max(1))).await
        })
    }

    fn transcript<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Transcript> {
        Box::pin(self.transcript_of(run_id))
    }

    fn output<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunOutput>> {
        Box::pin(async move {
            let seen = self.describe(run_id).await?;
            if seen.status() == WorkflowExecutionStatus::Running {
                return Ok(None);
            }
            self.wait_for_end(run_id).await.map(Some)
        })
    }

    fn wait_for_end<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunOutput> {
        Box::pin(async move {
            let end = self.end(run_id).await?;
            self.output_of(run_id, end).await
        })
    }

    fn list<'a>(&'a self, filter: &'a RunFilter, page: PageRequest) -> RunFuture<'a, RunPage> {
        Box::pin(self.list_page(filter, page))
    }

    fn decide<'a>(&'a self, run_id: &'a RunId, decision: &'a Decision) -> RunFuture<'a, ()> {
        Box::pin(self.decide_by_update(run_id, decision))
    }

    fn send<'a>(&'a self, run_id: &'a RunId, message: UserMessage) -> RunFuture<'a, ()> {
        let payload = json!(message);
        Box::pin(self.send_signal(run_id, signal::USER_MESSAGE, "the message", payload))
    }

    fn signal<'a>(&'a self, run_id: &'a RunId, name: &'a str, payload: Value) -> RunFuture<'a, ()> {
        Box::pin(async move {
            match AgentSignal::read(name, payload)? {
                AgentSignal::Decision(decision) => self.decide(run_id, &decision).await,
                AgentSignal::Message(message) => self.send(run_id, message).await,
                AgentSignal::Cancel(body) => self.cancel(run_id, body.reason).await.map(drop),
                AgentSignal::Other(payload) => {
                    self.send_signal(run_id, name, "the signal", payload).await
                }
            }
        })
    }

    fn cancel<'a>(&'a self, run_id: &'a RunId, reason: Option<String>) -> RunFuture<'a, RunPhase> {
        Box::pin(async move {
            let payload = json!(CancelBody { reason });
            let sent = self.send_signal(run_id, signal::CANCEL, "the reason", payload);
            sent.await.map(|()| RunPhase::Running)
        })
    }

    fn is_executing<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, Option<bool>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl AgentClient {
    /// Returns the status of the run, from a worker if one is needed.
    pub(super) async fn status_now(&self, run_id: &RunId) -> Result<RunStatus, RunClientError> {
        self.status_by(run_id, true).await
    }

    /// As [`status_now`](Self::status_now), with a single query to a worker: the query takes longer than a killed
    /// worker keeps a run.
    pub(super) async fn status_at_once(&self, run_id: &RunId) -> Result<RunStatus, RunClientError> {
        self.status_by(run_id, false).await
    }

    async fn status_by(
        &self,
        run_id: &RunId,
        is_patient: bool,
    ) -> Result<RunStatus, RunClientError> {
        let seen = self.describe(run_id).await?;
        if seen.status() == WorkflowExecutionStatus::Running {
            let failing = self.failing_task(run_id, &seen).await;
            let mut status = match self.untouched(run_id, &seen).await? {
                Some(input) => first_status(run_id, &seen, &input),
                // No worker would answer.
                None if failing.is_some() => {
                    let input = self.newest_input(run_id).await?;
                    let known = input.status().cloned();
                    known.unwrap_or_else(|| first_status(run_id, &seen, &input))
                }
                None => {
                    let status = if is_patient {
                        twice(|| self.worker_status(run_id)).await?
                    } else {
                        self.worker_status(run_id).await?
                    };
                    with_failing_step(status, &seen)
                }
            };
            // Whatever else the run waits for, no worker can process it.
            if failing.is_some() {
                status.blocked = failing;
            }
            // The run's own cause is more specific.
            if status.blocked.is_none() {
                status.blocked = self.missing_worker(&seen).await;
            }
            return Ok(status);
        }
        // The end of the run is known without a worker; if the run was terminated, the server knows more than a worker.
        let known = tokio::time::timeout(CLOSED_PATIENCE, self.worker_status(run_id)).await;
        match known {
            Ok(Ok(status)) if status.state.is_final() => Ok(status),
            known => {
                let known = known.ok().and_then(Result::ok);
                self.last_status(run_id, &seen, known).await
            }
        }
    }

    /// Sends a signal. No worker is needed, and the result does not show whether the run uses the signal.
    async fn send_signal(
        &self,
        run_id: &RunId,
        name: &str,
        what: &'static str,
        payload: Value,
    ) -> Result<(), RunClientError> {
        fits(what, &payload, LARGEST_MESSAGE)?;
        let name = RunSignal(name.to_owned());
        let handle = self.handle(run_id);
        match handle.signal(name, payload, Default::default()).await {
            Ok(()) => Ok(()),
            Err(WorkflowInteractionError::NotFound(_)) => Err(self.why_closed(run_id).await),
            Err(error) => Err(self.interaction(run_id, error)),
        }
    }
}

/// Sends a query to a worker twice. A query changes nothing. A worker that was killed keeps the run for five seconds,
/// and another worker may then have to replay it.
async fn twice<T, F>(mut ask: impl FnMut() -> F) -> Result<T, RunClientError>
where
    F: Future<Output = Result<T, RunClientError>>,
{
    match ask().await {
        Err(error) if error.is_no_worker() => ask().await,
        answer => answer,
    }
}
