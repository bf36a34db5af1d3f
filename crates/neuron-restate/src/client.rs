//! Talking to runs from outside, over Restate's ingress.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use neuron_types::{Decision, RecordedEvent, RunId, RunInput, RunOutput, RunStatus, Verdict};
use reqwest::{Method, Response, StatusCode, header::ACCEPT};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    ClientError, RunPage, ServerAddress, ServiceNames,
    wire::{Answer, EventsAfter, NamedSignal, STATUS, Stop},
};

/// How long an answer of a moment may take. Waiting for a run has no limit.
const ANSWER: Duration = Duration::from_secs(30);

/// How long it takes until a run that no worker has taken up yet is asked again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The answer to a question about an invocation that is not done.
const NOT_READY: u16 = 470;

/// Starts runs on a Restate server, and reaches into those that there are. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RestateClient {
    http: reqwest::Client,
    address: ServerAddress,
    names: ServiceNames,
}

impl RestateClient {
    /// A client of the services under these names.
    ///
    /// # Errors
    ///
    /// [`ClientError::Setup`] if this machine cannot make HTTP requests.
    pub fn new(mut address: ServerAddress, names: ServiceNames) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder().build();
        let http = http.map_err(|source| ClientError::Setup { source })?;
        for url in [&mut address.ingress_url, &mut address.admin_url] {
            url.truncate(url.trim_end_matches('/').len());
        }
        Ok(Self {
            http,
            address,
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
        let url = self.workflow_url(run_id, "attach");
        let response = self.request(Method::GET, &url, None, None).await?;
        self.read(&url, response).await.map_err(unknown(run_id))
    }

    /// What the run came to; `None` until it is over.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub async fn output(&self, run_id: &RunId) -> Result<Option<RunOutput>, ClientError> {
        let url = self.workflow_url(run_id, "output");
        let response = self.request(Method::GET, &url, None, Some(ANSWER)).await?;
        if response.status().as_u16() == NOT_READY {
            return Ok(None);
        }
        let output = self.read(&url, response).await;
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

    /// The run's events behind number `after`, in order; 0 gives all of them.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn events(
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

    /// The newest runs, the newest first. The server is asked, so no worker needs to be there.
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
        let url = format!("{}/deployments", self.address.admin_url);
        // A worker of another version at the same address takes the place of the one before.
        let body = json!({ "uri": worker_url, "force": true });
        let response = self
            .request(Method::POST, &url, Some(&body), Some(ANSWER))
            .await?;
        drop(self.read::<Value>(&url, response).await?);
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
        let url = self.handler_url(run_id, handler);
        let deadline = Instant::now() + ANSWER;
        loop {
            let response = self.request(Method::POST, &url, body, Some(ANSWER)).await?;
            let outcome = self.read(&url, response).await;
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
        let url = self.handler_url(run_id, "status");
        let status = self.request(Method::POST, &url, None, Some(ANSWER)).await;
        matches!(status, Ok(response) if response.status() == StatusCode::NOT_FOUND)
    }

    fn handler_url(&self, run_id: &RunId, handler: &str) -> String {
        // Neither the service's name nor the run's id has a character that a path must not have.
        let agent = self.names.agent();
        format!("{}/{agent}/{run_id}/{handler}", self.address.ingress_url)
    }

    /// Asks the server's own tables.
    async fn query<T: DeserializeOwned>(&self, query: &str) -> Result<Vec<T>, ClientError> {
        #[derive(Deserialize)]
        struct Rows<T> {
            rows: Vec<T>,
        }
        let url = format!("{}/query", self.address.admin_url);
        let body = json!({ "query": query });
        let response = self
            .request(Method::POST, &url, Some(&body), Some(ANSWER))
            .await?;
        let found: Rows<T> = self.read(&url, response).await?;
        Ok(found.rows)
    }

    fn workflow_url(&self, run_id: &RunId, what: &str) -> String {
        let agent = self.names.agent();
        let ingress = &self.address.ingress_url;
        format!("{ingress}/restate/workflow/{agent}/{run_id}/{what}")
    }

    async fn request(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
        limit: Option<Duration>,
    ) -> Result<Response, ClientError> {
        let mut request = self.http.request(method, url);
        request = request.header(ACCEPT, "application/json");
        if let Some(token) = &self.address.auth_token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(limit) = limit {
            request = request.timeout(limit);
        }
        request.send().await.map_err(|source| failed(url, source))
    }

    async fn read<T: DeserializeOwned>(
        &self,
        url: &str,
        response: Response,
    ) -> Result<T, ClientError> {
        let status = response.status();
        let body = response
            .bytes()
            .await
            .map_err(|source| failed(url, source))?;
        if !status.is_success() {
            return Err(ClientError::Refused {
                status: status.as_u16(),
                message: message(&body, status),
            });
        }
        serde_json::from_slice(&body).map_err(|source| ClientError::Unreadable {
            url: url.to_owned(),
            source,
        })
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

#[derive(Deserialize)]
struct Row {
    service_name: String,
    value_utf8: String,
}

fn json_value(value: &impl Serialize) -> Result<Value, ClientError> {
    serde_json::to_value(value).map_err(|source| ClientError::Unwritable { source })
}

fn failed(url: &str, source: reqwest::Error) -> ClientError {
    let url = url.to_owned();
    // The URL is said once, and without what a proxy might have put into it.
    let source = source.without_url();
    if source.is_timeout() {
        ClientError::NoAnswer { url, source }
    } else {
        ClientError::Unreachable { url, source }
    }
}

fn unknown(run_id: &RunId) -> impl Fn(ClientError) -> ClientError + '_ {
    |error| match error {
        ClientError::Refused { status: 404, .. } => ClientError::UnknownRun {
            run_id: run_id.clone(),
        },
        other => other,
    }
}

/// The sentence in an error of the server: that of a handler, or of its own.
fn message(body: &[u8], status: StatusCode) -> String {
    #[derive(Deserialize)]
    struct Message {
        message: String,
    }
    match serde_json::from_slice::<Message>(body) {
        Ok(Message { message }) if !message.is_empty() => message,
        _ => format!("Restate answered {status}"),
    }
}
