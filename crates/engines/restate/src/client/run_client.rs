use std::time::Duration;

use neuron_engine::{
    AgentSignal, CancelBody, DecisionBody, EventPage, PageRequest, RunClient, RunClientError,
    RunFilter, RunFuture, RunPage,
};
use neuron_types::{
    Decision, Place, RecordedEvent, RunId, RunOutput, RunPhase, RunRequest, RunStatus, Transcript,
    UserMessage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    RestateClient,
    fault::{HttpFault, failed},
    restate_client::{PATIENCE, post},
    without_worker::ended_beside,
};
use crate::wire::{
    messages::{EventsAfter, NamedSignal},
    service_names::ENGINE,
};

/// How long a worker may take to answer about a run before the server is asked.
const LOOK_PATIENCE: Duration = Duration::from_secs(3);

/// Client of runs of the workflow service of this client's [`ServiceNames`](crate::ServiceNames).
///
/// Status, output and lists need no worker: if no worker answers, the server has them. A worker answers what is sent to
/// a run. If there is no worker, the server keeps what is sent to a run that a worker had taken up before.
impl RunClient for RestateClient {
    fn engine(&self) -> &'static str {
        ENGINE
    }

    fn place(&self) -> Place {
        self.names.place()
    }

    fn start<'a>(&'a self, run_id: &'a RunId, request: RunRequest) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let body = json(&request)?;
            let path = self.handler(run_id, "run/send");
            let starting = async {
                let reply = post(&self.ingress, &path, Some(&body), PATIENCE).await?;
                reply.read::<Sent>().await
            };
            match starting.await.map_err(HttpFault::of_server)?.status {
                SendStatus::Accepted => Ok(()),
                SendStatus::PreviouslyAccepted => Err(RunClientError::RunExists {
                    run_id: run_id.clone(),
                }),
            }
        })
    }

    fn request<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunRequest>> {
        Box::pin(self.first_request(run_id))
    }

    fn status<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunStatus> {
        Box::pin(async move {
            let answer = self.call::<RunStatus>(run_id, "status", None);
            let mut status = match tokio::time::timeout(LOOK_PATIENCE, answer).await {
                Ok(Err(HttpFault::NoAnswer { .. })) | Err(_) => self.kept_status(run_id).await?,
                // A run that never began has shown nothing.
                Ok(Err(fault)) if fault.is_unknown_run(run_id) => self.kept_status(run_id).await?,
                Ok(status) => status.map_err(|fault| fault.of_run(run_id, None))?,
            };
            if status.state.is_final() {
                return Ok(status);
            }
            // The run may have been killed.
            if let Some(Err(how)) = self.end_if_any(run_id).await? {
                return Ok(ended_beside(status, &how));
            }
            self.fill_in_hold_ups(vec![&mut status]).await;
            Ok(status)
        })
    }

    fn events<'a>(
        &'a self,
        run_id: &'a RunId,
        after: u64,
        limit: usize,
    ) -> RunFuture<'a, EventPage> {
        Box::pin(async move {
            let wanted = json(&EventsAfter { after })?;
            let answer = self.call::<Vec<RecordedEvent>>(run_id, "events", Some(&wanted));
            let mut answer = std::pin::pin!(answer);
            let answered = match tokio::time::timeout(LOOK_PATIENCE, &mut answer).await {
                Ok(answered) => answered,
                Err(_) if self.is_untouched(run_id).await? => return Ok(EventPage::default()),
                Err(_) => answer.await,
            };
            let mut events = answered.map_err(|fault| fault.of_run(run_id, None))?;
            events.truncate(limit.max(1));
            // Only an empty page proves that there are no further ones.
            let more = !events.is_empty();
            Ok(EventPage::new(events, more))
        })
    }

    fn transcript<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Transcript> {
        Box::pin(async move {
            // Steps that end after this are left out.
            let events = self.events_after(run_id, 0).await?;
            let steps = self.journaled_steps(run_id).await;
            let steps = steps.map_err(HttpFault::of_server)?;
            Ok(steps.into_transcript(run_id.clone(), &events))
        })
    }

    fn output<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunOutput>> {
        Box::pin(async move {
            match self.end_if_any(run_id).await? {
                Some(end) => self.output_of(run_id, end).await.map(Some),
                None => Ok(None),
            }
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
        Box::pin(async move {
            let handler = decision.verdict.as_str();
            let body = DecisionBody::from(decision.clone());
            self.pass_on(run_id, handler, &body, Some(&decision.ticket))
                .await
        })
    }

    fn send<'a>(&'a self, run_id: &'a RunId, message: UserMessage) -> RunFuture<'a, ()> {
        Box::pin(async move { self.pass_on(run_id, "send", &message, None).await })
    }

    fn signal<'a>(&'a self, run_id: &'a RunId, name: &'a str, payload: Value) -> RunFuture<'a, ()> {
        Box::pin(async move {
            match AgentSignal::read(name, payload)? {
                AgentSignal::Decision(decision) => self.decide(run_id, &decision).await,
                AgentSignal::Message(message) => self.send(run_id, message).await,
                AgentSignal::Cancel(body) => self.cancel(run_id, body.reason).await.map(drop),
                AgentSignal::Other(payload) => {
                    let name = name.to_owned();
                    let body = NamedSignal {
                        name,
                        payload,
                        waits: false,
                    };
                    self.pass_on(run_id, "signal", &body, None).await
                }
            }
        })
    }

    fn cancel<'a>(&'a self, run_id: &'a RunId, reason: Option<String>) -> RunFuture<'a, RunPhase> {
        Box::pin(async move {
            let body = CancelBody { reason };
            let passed = self.pass_on(run_id, "cancel", &body, None).await;
            passed.map(|()| RunPhase::Running)
        })
    }

    fn is_executing<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, Option<bool>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl RestateClient {
    /// Passes a request to a handler of the run. A run that was killed does not know that it is over, and would accept
    /// it.
    async fn pass_on(
        &self,
        run_id: &RunId,
        handler: &str,
        body: &impl Serialize,
        ticket: Option<&str>,
    ) -> Result<(), RunClientError> {
        let body = json(body)?;
        self.check_open(run_id).await?;
        let passing = self.call_once(run_id, handler, &body);
        match tokio::time::timeout(PATIENCE, passing).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(HttpFault::NoAnswer { .. })) | Err(_) => {
                // Handlers of a run that has not begun yet do not know it, and accept nothing.
                let is_kept = !self.is_untouched(run_id).await?;
                Err(RunClientError::NoWorker {
                    engine: ENGINE,
                    run_id: run_id.clone(),
                    is_kept,
                })
            }
            Ok(Err(fault)) => Err(fault.of_run(run_id, ticket)),
        }
    }
}

#[derive(Deserialize)]
struct Sent {
    status: SendStatus,
}

#[derive(Deserialize)]
enum SendStatus {
    Accepted,
    PreviouslyAccepted,
}

fn json(value: &impl Serialize) -> Result<Value, RunClientError> {
    serde_json::to_value(value).map_err(failed)
}
