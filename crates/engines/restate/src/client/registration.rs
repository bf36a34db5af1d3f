//! Registration of workers with the server.

use std::collections::BTreeMap;

use neuron_engine::RunClientError;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::{
    fault::HttpFault,
    http_endpoint::Question,
    restate_client::{RestateClient, TABLES_PATIENCE, post},
};
use crate::wire::service_names::{VERSION, VERSION_KEY};

/// A worker as the server knows it.
#[derive(Debug, Deserialize)]
struct Known {
    #[serde(default)]
    services: Vec<Service>,
}

#[derive(Debug, Deserialize)]
struct Service {
    name: String,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl Service {
    /// Returns whether it may be a worker of this build. An older server does not report that.
    fn may_be_of_this_build(&self) -> bool {
        let version = self.metadata.get(VERSION_KEY);
        version.is_none_or(|version| version == VERSION)
    }
}

#[derive(Debug, Deserialize)]
struct Deployments {
    #[serde(default)]
    deployments: Vec<Deployment>,
}

#[derive(Debug, Deserialize)]
struct Deployment {
    /// Missing if the worker is not an HTTP server.
    #[serde(default)]
    uri: String,
}

impl RestateClient {
    /// Registers a worker with the server, by its address. If the server already knows a worker at this address, runs
    /// in flight continue with that one, and nothing is changed.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Rejected`] if the server cannot use the worker, or knows another version at the address, or a
    /// [deployment](Self::with_deployment) of another name;
    /// [`RunClientError::Unreachable`] or [`RunClientError::Failed`].
    pub async fn register(&self, worker_url: &str) -> Result<(), RunClientError> {
        let (status, known) = self.registered(worker_url, false).await?;
        if status == StatusCode::CREATED {
            return Ok(());
        }
        let known = |name: &str| known.services.iter().find(|service| service.name == name);
        let segments = self.names.segments(self.deployment.as_deref());
        if known(self.names.agent()).is_some_and(Service::may_be_of_this_build) {
            return match known(&segments) {
                Some(_) => Ok(()),
                None => Err(RunClientError::rejected(format!(
                    "Restate knows a worker at {worker_url} that continues the runs of another deployment, and no \
                     service {segments} there: serve this one at an address of its own"
                ))),
            };
        }
        Err(RunClientError::rejected(format!(
            "Restate knows another version at {worker_url}, and runs in flight continue with that one: serve this \
             one at \
             an address of its own"
        )))
    }

    /// As [`register`](Self::register), replacing whatever the server knows at this address, even if runs are in
    /// flight: for development.
    ///
    /// # Errors
    ///
    /// As [`register`](Self::register), except for another version.
    pub async fn register_over(&self, worker_url: &str) -> Result<(), RunClientError> {
        self.registered(worker_url, true).await.map(drop)
    }

    /// Returns whether the server knows a worker at this address.
    ///
    /// # Errors
    ///
    /// [`RunClientError::Unreachable`] or [`RunClientError::Failed`].
    pub async fn is_registered(&self, worker_url: &str) -> Result<bool, RunClientError> {
        let question = Question {
            method: Method::GET,
            path: "/deployments",
            body: None,
            idempotency_key: None,
            limit: Some(TABLES_PATIENCE),
        };
        let asked = async { self.admin.ask(question).await?.read::<Deployments>().await };
        let known = asked.await.map_err(HttpFault::of_server)?.deployments;
        Ok(known.iter().any(|known| is_same(&known.uri, worker_url)))
    }

    async fn registered(
        &self,
        worker_url: &str,
        force: bool,
    ) -> Result<(StatusCode, Known), RunClientError> {
        let body = json!({ "uri": worker_url, "force": force });
        let registering = async {
            let reply = post(&self.admin, "/deployments", Some(&body), TABLES_PATIENCE).await?;
            let status = reply.status();
            Ok::<_, HttpFault>((status, reply.read().await?))
        };
        registering.await.map_err(HttpFault::of_server)
    }
}

/// Returns whether two addresses are the same. The server writes addresses with a slash at the end.
fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_with_and_without_a_slash() {
        assert!(is_same("http://a:9080/", "http://a:9080"));
        assert!(!is_same("http://a:9080/v1", "http://a:9080/v2"));
    }

    #[test]
    fn a_service_says_of_which_build_it_is_or_nothing() {
        let service = |metadata: serde_json::Value| -> Service {
            serde_json::from_value(json!({ "name": "neuron", "metadata": metadata })).unwrap()
        };
        assert!(service(json!({})).may_be_of_this_build());
        assert!(service(json!({ VERSION_KEY: VERSION })).may_be_of_this_build());
        assert!(!service(json!({ VERSION_KEY: "0.0.1" })).may_be_of_this_build());
    }
}
