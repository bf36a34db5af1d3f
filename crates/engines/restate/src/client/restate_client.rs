use std::time::Duration;

use neuron_engine::RunClientError;
use neuron_types::{RunId, RunOutput};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::{
    fault::{self, HttpFault},
    http_endpoint::{HttpEndpoint, Question, Reply},
    server_address::ServerAddress,
    setup_error::SetupError,
    token::Token,
};
use crate::wire::service_names::ServiceNames;

/// How long a worker or the server may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long the server may take to query its tables.
pub(super) const TABLES_PATIENCE: Duration = Duration::from_secs(30);

/// The delay before a run that no worker has taken up yet is asked again.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The status of a request about an invocation that is not done.
const NOT_READY: u16 = 470;

/// The status of a request about an invocation that the server does not have.
const NOT_FOUND: u16 = 404;

/// A client of the runs on a Restate server, with the methods of
/// [`RunClient`](neuron_engine::RunClient). Cheap to clone.
#[derive(Debug, Clone)]
pub struct RestateClient {
    pub(super) ingress: HttpEndpoint,
    pub(super) admin: HttpEndpoint,
    pub(super) names: ServiceNames,
    /// The name of the deployment that the client registers.
    pub(super) deployment: Option<String>,
}

/// How a run ended: with an output, or without its agent, such as a run that was killed.
pub(super) type End = Result<RunOutput, String>;

impl RestateClient {
    /// Returns a client of the services under these names.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Settings`] if this machine cannot make HTTP requests, or the token cannot be read or sent.
    pub fn new(address: ServerAddress, names: ServiceNames) -> Result<Self, RunClientError> {
        let builder = neuron_tls::client_builder();
        let builder = builder.map_err(|error| fault::settings(SetupError::from(error)))?;
        let http = builder.build();
        let http = http.map_err(|error| fault::settings(SetupError::from(error)))?;
        let ServerAddress {
            ingress_url,
            admin_url,
            auth_token,
            auth_token_file,
        } = address;
        // Whether one port demands a token shows nothing about the other.
        let token = || {
            let token = match (&auth_token_file, &auth_token) {
                (Some(path), _) => Some(Token::in_file(path.clone())),
                (None, Some(token)) => Some(Token::new(token)),
                (None, None) => None,
            };
            token.transpose().map_err(fault::settings)
        };
        Ok(Self {
            ingress: HttpEndpoint::new(http.clone(), ingress_url, token()?),
            admin: HttpEndpoint::new(http, admin_url, token()?),
            names,
            deployment: None,
        })
    }

    /// Sets the name of the deployment that the client [registers](Self::register), as
    /// [`AgentServices::with_deployment`](crate::AgentServices::with_deployment). Default is no name.
    #[must_use]
    pub fn with_deployment(mut self, name: Option<String>) -> Self {
        self.deployment = name;
        self
    }

    /// Calls a handler of the run. The call is repeated until the run has shown something; the caller bounds the time.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        run_id: &RunId,
        handler: &str,
        body: Option<&Value>,
    ) -> Result<T, HttpFault> {
        self.call_by(run_id, handler, body, false).await
    }

    /// As [`call`](Self::call), for a handler that takes something in: a request that is repeated because its
    /// connection broke is accepted once.
    pub(super) async fn call_once(
        &self,
        run_id: &RunId,
        handler: &str,
        body: &Value,
    ) -> Result<Value, HttpFault> {
        self.call_by(run_id, handler, Some(body), true).await
    }

    async fn call_by<T: DeserializeOwned>(
        &self,
        run_id: &RunId,
        handler: &str,
        body: Option<&Value>,
        is_taken_once: bool,
    ) -> Result<T, HttpFault> {
        let path = self.handler(run_id, handler);
        loop {
            let answer: HttpFault = match self.ask(&path, body, is_taken_once).await {
                Err(fault) if fault.is_unknown_run(run_id) => fault,
                answer => return answer,
            };
            // The server knows better whether the run exists.
            match self.end_if_any(run_id).await {
                Ok(None) => tokio::time::sleep(BETWEEN_LOOKS).await,
                // The run ended between the two requests, and shows everything by now.
                Ok(Some(Ok(_))) => return self.ask(&path, body, is_taken_once).await,
                _ => return Err(answer),
            }
        }
    }

    /// Sends a request to a handler, and repeats it if the connection breaks and the request is accepted only once.
    async fn ask<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&Value>,
        is_taken_once: bool,
    ) -> Result<T, HttpFault> {
        // One key for each request: otherwise the answer of a run that has shown nothing yet would be repeated.
        let key = is_taken_once.then(|| Uuid::new_v4().to_string());
        match self.ask_with(path, body, key.as_deref()).await {
            Err(fault) if key.is_some() && fault.is_broken_connection() => {
                self.ask_with(path, body, key.as_deref()).await
            }
            answer => answer,
        }
    }

    async fn ask_with<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Option<&Value>,
        idempotency_key: Option<&str>,
    ) -> Result<T, HttpFault> {
        let question = Question {
            method: Method::POST,
            path,
            body,
            idempotency_key,
            limit: Some(PATIENCE),
        };
        self.ingress.ask(question).await?.read().await
    }

    /// Returns how the run ended; `None` if it is not over.
    pub(super) async fn end_if_any(&self, run_id: &RunId) -> Result<Option<End>, RunClientError> {
        let reply = self.of_workflow(run_id, "output", Some(PATIENCE)).await;
        match reply {
            Ok(reply) if reply.status().as_u16() == NOT_READY => Ok(None),
            Ok(reply) => ended(run_id, reply.read().await).map(Some),
            Err(fault) => Err(fault.of_server()),
        }
    }

    /// Waits for the run's end.
    pub(super) async fn end(&self, run_id: &RunId) -> Result<End, RunClientError> {
        let attached = async {
            let reply = self.of_workflow(run_id, "attach", None).await?;
            reply.read().await
        };
        ended(run_id, attached.await)
    }

    pub(super) fn handler(&self, run_id: &RunId, handler: &str) -> String {
        // Neither the service's name nor the run's id has a character that a path must not have.
        format!("/{}/{run_id}/{handler}", self.names.agent())
    }

    /// Asks the server about the run, without a worker.
    async fn of_workflow(
        &self,
        run_id: &RunId,
        what: &str,
        limit: Option<Duration>,
    ) -> Result<Reply, HttpFault> {
        let path = format!("/restate/workflow/{}/{run_id}/{what}", self.names.agent());
        let question = Question {
            method: Method::GET,
            path: &path,
            body: None,
            idempotency_key: None,
            limit,
        };
        self.ingress.ask(question).await
    }
}

pub(super) async fn post(
    endpoint: &HttpEndpoint,
    path: &str,
    body: Option<&Value>,
    limit: Duration,
) -> Result<Reply, HttpFault> {
    let question = Question {
        method: Method::POST,
        path,
        body,
        idempotency_key: None,
        limit: Some(limit),
    };
    endpoint.ask(question).await
}

fn ended(run_id: &RunId, output: Result<RunOutput, HttpFault>) -> Result<End, RunClientError> {
    match output {
        Ok(output) => Ok(Ok(output)),
        Err(HttpFault::Answered {
            is_of_run: true,
            message,
            ..
        }) => Ok(Err(message)),
        Err(HttpFault::Answered {
            status: NOT_FOUND, ..
        }) => Err(fault::unknown(run_id)),
        Err(fault) => Err(fault.of_server()),
    }
}
