//! Talking to runs from outside, over Restate's ingress.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use neuron_types::{Decision, RecordedEvent, RunId, RunInput, RunOutput, RunStatus, Verdict};
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    ClientError, RunPage, ServerAddress, ServiceNames,
    port::{Port, Question, Reply},
    wire::{Answer, EventsAfter, NamedSignal, STATUS, Stop},
};

/// How long an answer of a moment may take. Waiting for a run has no limit.
const ANSWER: Duration = Duration::from_secs(30);

/// How long it takes until a run that no worker has taken up yet is asked again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long a server that has just started may be unable to look into its tables.
const TABLES: Duration = Duration::from_secs(10);

/// The answer to a question about an invocation that is not done.
const NOT_READY: u16 = 470;

/// Starts runs on a Restate server, and reaches into those that there are. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RestateClient {
    ingress: Port,
    admin: Port,
    names: ServiceNames,
}

impl RestateClient {
    /// A client of the services under these names.
    ///
    /// # Errors
    ///
    /// [`ClientError::Setup`] if this machine cannot make HTTP requests, [`ClientError::Token`] if the token
    /// cannot be sent.
    pub fn new(address: ServerAddress, names: ServiceNames) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder().build();
        let http = http.map_err(|source| ClientError::Setup { source })?;
        let ServerAddress {
            ingress_url,
            admin_url,
            auth_token,
        } = address;
        Ok(Self {
            ingress: Port::new(http.clone(), ingress_url, auth_token.as_deref())?,
            admin: Port::new(http, admin_url, auth_token.as_deref())?,
            names,
        })
    }

    /// Starts a run. It goes on when a worker takes it up.
    ///
    /// # Errors
    ///
    /// [`ClientError::RunExists`], or what keeps the server from taking it.
    pub async fn start(&self, run_id: &RunId, input: &RunInput) -> Result<(), ClientError> {
        let sent: Sent = self
            .call(run_id, "run/send", Some(&json_value(input)?))
            .await?;
        match sent.status {
            SendStatus::Accepted => Ok(()),
            SendStatus::PreviouslyAccepted => Err(ClientError::RunExists {
                run_id: run_id.clone(),
            }),
        }
    }

    /// Waits until the run is over.
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownRun`], or what keeps the server from answering.
    pub async fn wait(&self, run_id: &RunId) -> Result<RunOutput, ClientError> {
        let reply = self.of_workflow(run_id, "attach", None).await?;
        reply.read().await.map_err(unknown(run_id))
    }

    /// What the run came to; `None` until it is over.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub async fn output(&self, run_id: &RunId) -> Result<Option<RunOutput>, ClientError> {
        let reply = self.of_workflow(run_id, "output", Some(ANSWER)).await?;
        if reply.status().as_u16() == NOT_READY {
            return Ok(None);
        }
        let output = reply.read().await;
        output.map(Some).map_err(unknown(run_id))
    }

    /// Where the run stands. A worker must be there to answer.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with status 404 if there is no such run, or what keeps it from being asked.
    pub async fn status(&self, run_id: &RunId) -> Result<RunStatus, ClientError> {
        self.call(run_id, "status", None).await
    }

    /// The run's events behind number `after`, in order; 0 gives all of them. However many there are: they are
    /// asked for in pages.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn events(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, ClientError> {
        let mut events = self.events_page(run_id, after).await?;
        while let Some(last) = events.last() {
            let page = self.events_page(run_id, last.seq).await?;
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        Ok(events)
    }

    /// The first of the run's events behind number `after`, in order: at most 1,000, and fewer where they are
    /// large. None if there are none behind it so far. The next page is that behind the last one's number.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn events_page(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, ClientError> {
        let wanted = json_value(&EventsAfter { after })?;
        self.call(run_id, "events", Some(&wanted)).await
    }

    /// Answers a ticket.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the decision fits no open ticket: the run goes on waiting.
    pub async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), ClientError> {
        let handler = match decision.verdict {
            Verdict::Approve => "approve",
            Verdict::Deny => "deny",
        };
        let answer = Answer {
            ticket: decision.ticket.clone(),
            digest: decision.digest.clone(),
            args: decision.args.clone(),
            comment: decision.comment.clone(),
            approver: decision.approver.clone(),
            remember: decision.remember,
        };
        self.tell(run_id, handler, &answer).await
    }

    /// Queues a message, which the run takes up at its next turn boundary.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if there is no such run or it is over.
    pub async fn send(&self, run_id: &RunId, text: &str) -> Result<(), ClientError> {
        self.tell(run_id, "send", &json!({ "text": text })).await
    }

    /// Sends any signal.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), or if the payload does not fit a signal that has a meaning of its own.
    pub async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), ClientError> {
        let name = name.to_owned();
        self.tell(run_id, "signal", &NamedSignal { name, payload })
            .await
    }

    /// Cancels the run.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), ClientError> {
        self.tell(run_id, "cancel", &Stop { reason }).await
    }

    /// The newest runs, the newest first. The server is asked, so no worker needs to be there. One that has just
    /// started cannot tell for a moment: it is asked again for up to 10 s.
    ///
    /// # Errors
    ///
    /// What keeps the admin API from answering.
    pub async fn list(&self, limit: usize) -> Result<RunPage, ClientError> {
        // The name was checked when it was made: it has no quote.
        let (agent, record) = (self.names.agent(), self.names.record());
        let query = format!(
            "SELECT service_name, value_utf8 FROM state \
             WHERE service_name IN ('{agent}', '{record}') AND key = '{STATUS}'"
        );
        let mut rows: Vec<Row> = self.query(&query).await?;
        // What the record of a run says is newer than what its workflow says.
        rows.sort_by_key(|row| row.service_name == record);
        let statuses = rows
            .iter()
            .filter_map(|row| serde_json::from_str::<RunStatus>(&row.value_utf8).ok());
        let runs: BTreeMap<RunId, RunStatus> = statuses
            .map(|status| (status.run_id.clone(), status))
            .collect();
        let mut runs: Vec<RunStatus> = runs.into_values().collect();
        runs.sort_by(|a, b| {
            let newest = b.started_at.cmp(&a.started_at);
            newest.then_with(|| a.run_id.cmp(&b.run_id))
        });
        let total = runs.len();
        runs.truncate(limit);
        Ok(RunPage { runs, total })
    }

    /// Tells the server where a worker is.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if the server cannot use the worker, or what keeps it from being asked.
    pub async fn register(&self, worker_url: &str) -> Result<(), ClientError> {
        // A worker of another version at the same address takes the place of the one before.
        let body = json!({ "uri": worker_url, "force": true });
        let reply = post(&self.admin, "/deployments", Some(&body)).await?;
        drop(reply.read::<Value>().await?);
        Ok(())
    }

    async fn tell(
        &self,
        run_id: &RunId,
        handler: &str,
        body: &impl Serialize,
    ) -> Result<(), ClientError> {
        let body = json_value(body)?;
        let accepted = self.call::<Value>(run_id, handler, Some(&body));
        drop(accepted.await?);
        Ok(())
    }

    /// Calls a handler of the run.
    async fn call<T: DeserializeOwned>(
        &self,
        run_id: &RunId,
        handler: &str,
        body: Option<&Value>,
    ) -> Result<T, ClientError> {
        let path = self.handler(run_id, handler);
        let deadline = Instant::now() + ANSWER;
        loop {
            let reply = post(&self.ingress, &path, body).await?;
            let outcome = reply.read().await;
            let is_unknown = matches!(outcome, Err(ClientError::Refused { status: 404, .. }));
            // A run that no worker has taken up yet knows nothing of itself, but the server does.
            if is_unknown && Instant::now() < deadline && self.is_new(run_id).await {
                tokio::time::sleep(BETWEEN_LOOKS).await;
                continue;
            }
            return outcome;
        }
    }

    /// Whether the server has the run, it is not over, and it knows nothing of itself.
    async fn is_new(&self, run_id: &RunId) -> bool {
        if !matches!(self.output(run_id).await, Ok(None)) {
            return false;
        }
        let status = post(&self.ingress, &self.handler(run_id, "status"), None).await;
        matches!(status, Ok(reply) if reply.status() == StatusCode::NOT_FOUND)
    }

    fn handler(&self, run_id: &RunId, handler: &str) -> String {
        // Neither the service's name nor the run's id has a character that a path must not have.
        format!("/{}/{run_id}/{handler}", self.names.agent())
    }

    /// Asks the server's own tables.
    async fn query<T: DeserializeOwned>(&self, query: &str) -> Result<Vec<T>, ClientError> {
        #[derive(Deserialize)]
        struct Rows<T> {
            rows: Vec<T>,
        }
        let body = json!({ "query": query });
        let deadline = Instant::now() + TABLES;
        loop {
            let reply = post(&self.admin, "/query", Some(&body)).await?;
            let found = reply.read::<Rows<T>>().await;
            let is_starting = matches!(found, Err(ClientError::Refused { status: 500.., .. }));
            if is_starting && Instant::now() < deadline {
                tokio::time::sleep(BETWEEN_LOOKS).await;
                continue;
            }
            return Ok(found?.rows);
        }
    }

    /// Asks the server about the run, and no worker.
    async fn of_workflow(
        &self,
        run_id: &RunId,
        what: &str,
        limit: Option<Duration>,
    ) -> Result<Reply, ClientError> {
        let path = format!("/restate/workflow/{}/{run_id}/{what}", self.names.agent());
        let question = Question {
            method: Method::GET,
            path: &path,
            body: None,
            limit,
        };
        self.ingress.ask(question).await
    }
}

async fn post(port: &Port, path: &str, body: Option<&Value>) -> Result<Reply, ClientError> {
    let question = Question {
        method: Method::POST,
        path,
        body,
        limit: Some(ANSWER),
    };
    port.ask(question).await
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

#[derive(Deserialize)]
struct Row {
    service_name: String,
    value_utf8: String,
}

fn json_value(value: &impl Serialize) -> Result<Value, ClientError> {
    serde_json::to_value(value).map_err(|source| ClientError::Unwritable { source })
}

fn unknown(run_id: &RunId) -> impl Fn(ClientError) -> ClientError + '_ {
    |error| match error {
        ClientError::Refused { status: 404, .. } => ClientError::UnknownRun {
            run_id: run_id.clone(),
        },
        other => other,
    }
}
