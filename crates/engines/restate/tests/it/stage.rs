//! A server, workers on it, and the agents that they run.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use neuron_engine::RunClient as _;
use neuron_executor::Executor;
use neuron_harness::until;
use neuron_patience::{long_patience, patience};
use neuron_restate::{AgentServices, RestateClient, ServiceNames};
use neuron_testing::input_of;
use neuron_types::{AgentSpec, RecordedEvent, RunEvent, RunId, RunOutput, RunPhase, RunStatus};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime};

use crate::server::Server;

/// A server and a client of the services under one prefix.
pub(crate) struct Stage {
    pub(crate) client: RestateClient,
    pub(crate) server: Arc<Server>,
    pub(crate) names: ServiceNames,
    http: reqwest::Client,
    /// Where this stage's workers listen, one after another: a run in flight stays with the address that it
    /// was started at.
    listen: Mutex<SocketAddr>,
}

impl Stage {
    /// Returns a stage whose services have their own names.
    pub(crate) async fn set(prefix: &str) -> Self {
        let server = tokio::task::spawn_blocking(Server::shared).await.unwrap();
        Self::on(server, prefix)
    }

    pub(crate) fn on(server: Arc<Server>, prefix: &str) -> Self {
        let names = ServiceNames::new(prefix).unwrap();
        Self {
            client: RestateClient::new(server.address.clone(), names.clone()).unwrap(),
            server,
            names,
            http: neuron_tls::client_builder().unwrap().build().unwrap(),
            listen: Mutex::new(SocketAddr::from(([127, 0, 0, 1], 0))),
        }
    }

    pub(crate) async fn worker(&self, executor: &Executor) -> TestWorker {
        self.worker_with(executor, |services| services).await
    }

    /// Starts a worker with its own threads, and registers it with the server.
    pub(crate) async fn worker_with(
        &self,
        executor: &Executor,
        settings: impl FnOnce(AgentServices) -> AgentServices,
    ) -> TestWorker {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let services = AgentServices::new(self.names.clone(), executor.clone(), |door, input| {
            Box::pin(neuron_workflows::agent(door, input))
        });
        let services = settings(services.accept_definitions(true));
        let address = *self.listen.lock().unwrap();
        let listener = until(async || std::net::TcpListener::bind(address).ok()).await;
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        *self.listen.lock().unwrap() = address;
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            let served = services.serve(listener, std::future::pending()).await;
            served.unwrap();
        });
        let url = format!("http://{address}");
        self.client.register_over(&url).await.unwrap();
        TestWorker(Some(runtime))
    }

    /// Makes the next worker listen at a new address, and returns the address of the newest worker.
    pub(crate) fn elsewhere(&self) -> SocketAddr {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        std::mem::replace(&mut self.listen.lock().unwrap(), anywhere)
    }

    /// Makes the next worker listen at this address.
    pub(crate) fn at(&self, address: SocketAddr) {
        *self.listen.lock().unwrap() = address;
    }

    pub(crate) async fn start(&self, run_id: &str, agent: &AgentSpec) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        let input = input_of(agent);
        self.client.start(&run_id, input.into()).await.unwrap();
        run_id
    }

    /// Starts a run and waits until a worker has it.
    pub(crate) async fn begin(&self, run_id: &str, agent: &AgentSpec) -> RunId {
        let run_id = self.start(run_id, agent).await;
        until(async || self.client.status(&run_id).await.ok()).await;
        run_id
    }

    pub(crate) async fn run(&self, run_id: &str, agent: &AgentSpec) -> RunOutput {
        let run_id = self.start(run_id, agent).await;
        self.wait(&run_id).await
    }

    pub(crate) async fn wait(&self, run_id: &RunId) -> RunOutput {
        self.ends_within(patience(), run_id).await
    }

    /// As [`wait`](Self::wait), for a run that moves much data or makes thousands of steps.
    pub(crate) async fn wait_at_length(&self, run_id: &RunId) -> RunOutput {
        self.ends_within(long_patience(), run_id).await
    }

    async fn ends_within(&self, deadline: Duration, run_id: &RunId) -> RunOutput {
        let waiting = self.client.wait_for_end(run_id);
        let output = tokio::time::timeout(deadline, waiting).await;
        output.expect("the run ends within its deadline").unwrap()
    }

    /// Waits until the run is in this state.
    pub(crate) async fn reaches(&self, run_id: &RunId, state: RunPhase) -> RunStatus {
        until(async || {
            let status = self.client.status(run_id).await.ok()?;
            (status.state == state).then_some(status)
        })
        .await
    }

    pub(crate) async fn events(&self, run_id: &RunId) -> Vec<RunEvent> {
        let recorded = self.client.events_after(run_id, 0).await.unwrap();
        let numbers: Vec<u64> = recorded.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=recorded.len() as u64).collect::<Vec<_>>());
        recorded
            .into_iter()
            .map(|event: RecordedEvent| event.event)
            .collect()
    }

    /// Calls a handler of the run as `curl` would.
    pub(crate) async fn post(&self, run_id: &RunId, handler: &str, body: &Value) -> (u16, Value) {
        let path = format!("{}/{run_id}/{handler}", self.names.agent());
        self.post_to(&path, body).await
    }

    /// As [`post`](Self::post), to any handler of any service.
    pub(crate) async fn post_to(&self, path: &str, body: &Value) -> (u16, Value) {
        let url = format!("{}/{path}", self.server.address.ingress_url);
        let response = self.http.post(url).json(body).send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json().await.unwrap_or_default())
    }

    /// Queries the server's own tables.
    pub(crate) async fn query(&self, query: &str) -> Vec<Value> {
        let url = format!("{}/query", self.server.address.admin_url);
        let request = self.http.post(url).header("accept", "application/json");
        let response = request
            .json(&json!({ "query": query }))
            .send()
            .await
            .unwrap();
        let answer: Value = response.json().await.unwrap();
        answer["rows"].as_array().cloned().unwrap_or_default()
    }

    /// Does something to an invocation as Restate's own tools would.
    pub(crate) async fn change(&self, run_id: &RunId, what: &str) {
        let target = format!("{}/{run_id}/run", self.names.agent());
        let rows = self
            .query(&format!(
                "SELECT id FROM sys_invocation WHERE target = '{target}'"
            ))
            .await;
        let id = rows[0]["id"].as_str().unwrap();
        let admin = &self.server.address.admin_url;
        let url = format!("{admin}/invocations/{id}/{what}");
        let response = self.http.patch(url).send().await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
    }
}

/// A worker that is lost when it is dropped: everything in it ends where it is.
pub(crate) struct TestWorker(Option<Runtime>);

impl Drop for TestWorker {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
