//! Temporal's door: a server for each scenario, and workers that are processes of their own.

use std::{net::SocketAddr, sync::Arc};

use neuron_temporal::{AgentClient, ClientError};
use neuron_testing::{Engine, EngineServer, Host, HostError, Process, Session, World};
use neuron_types::{Decision, RecordedEvent, RunId, RunInput, RunOutput, RunStatus, UserMessage};
use serde_json::Value;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};
use tokio::sync::Mutex;

use crate::{
    histories,
    http::{ask, json},
};

neuron_testing::conformance!(engine: TemporalHost::start().await);

async fn connect(address: &str) -> Result<AgentClient, HostError> {
    let url: Url = format!("http://{address}").parse()?;
    let connection = Connection::connect(ConnectionOptions::new(url).build()).await?;
    let client = Client::new(connection, ClientOptions::new("default").build())?;
    Ok(AgentClient::new(client, address))
}

struct TemporalHost {
    server: Arc<Mutex<EngineServer>>,
    roll_over_after: Option<u64>,
}

impl TemporalHost {
    async fn start() -> Self {
        let server = EngineServer::find(Engine::Temporal).await.unwrap();
        Self {
            server: Arc::new(Mutex::new(server)),
            roll_over_after: None,
        }
    }
}

struct TemporalSession {
    server: Arc<Mutex<EngineServer>>,
    address: String,
    client: AgentClient,
    queue: String,
    world: SocketAddr,
    http: String,
    roll_over_after: Option<u64>,
    worker: Mutex<Option<Process>>,
}

impl Host for TemporalHost {
    type Session = TemporalSession;
    const SURVIVES: bool = true;
    const HAS_ENGINE: bool = true;
    const ROLLS_OVER: bool = true;

    fn rolling_over_after(&self, events: u64) -> Self {
        Self {
            server: Arc::clone(&self.server),
            roll_over_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<TemporalSession, HostError> {
        let addresses = self.server.lock().await.addresses().clone();
        let address = addresses.main;
        Ok(TemporalSession {
            server: Arc::clone(&self.server),
            client: connect(&address).await?,
            address,
            queue: world.run_id("queue").to_string(),
            world: world.address().await,
            http: addresses.http,
            roll_over_after: self.roll_over_after,
            worker: Mutex::default(),
        })
    }
}

impl Session for TemporalSession {
    async fn execute(&self) -> Result<(), HostError> {
        let mut variables = vec![
            ("NEURON_TESTING_SERVER", self.address.clone()),
            ("NEURON_TESTING_QUEUE", self.queue.clone()),
            ("NEURON_TESTING_WORLD", self.world.to_string()),
        ];
        let events = self.roll_over_after;
        variables.extend(events.map(|events| ("NEURON_TESTING_ROLL_OVER", events.to_string())));
        let worker = Process::start_example("conformance_worker", "temporal", &variables)?;
        *self.worker.lock().await = Some(worker);
        Ok(())
    }

    async fn kill(&self) -> Result<(), HostError> {
        self.worker.lock().await.take();
        Ok(())
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        Ok(self.server.lock().await.restart().await?)
    }

    async fn submit(&self, run_id: &RunId, input: RunInput) -> Result<(), HostError> {
        Ok(self.client.start(run_id, input, &self.queue).await?)
    }

    async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), HostError> {
        let decided = self.client.decide(run_id, decision.clone()).await;
        decided.map_err(|error| match error {
            ClientError::Refused { reason } => HostError::Refused(reason),
            error => error.into(),
        })
    }

    async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), HostError> {
        Ok(self.client.send(run_id, message.clone()).await?)
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        Ok(self.client.signal(run_id, name, payload).await?)
    }

    async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), HostError> {
        Ok(self.client.cancel(run_id, reason).await?)
    }

    async fn status(&self, run_id: &RunId) -> Result<RunStatus, HostError> {
        Ok(self.client.status(run_id).await?)
    }

    async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, HostError> {
        Ok(self.client.events(run_id).await?)
    }

    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        Ok(self.history_ids(run_id)?.len() as u64)
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        let output = self.client.wait(run_id).await?;
        if histories::are_recorded() {
            for (number, history) in self.history_ids(run_id)?.iter().enumerate() {
                let json = self.client.export_history(run_id, history).await?;
                histories::record(run_id, number, &json)?;
            }
        }
        Ok(output)
    }
}

impl TemporalSession {
    /// The ids that Temporal gave the run's histories, the oldest first. Each history says which one it
    /// continues.
    fn history_ids(&self, run_id: &RunId) -> Result<Vec<String>, HostError> {
        let mut ids = Vec::new();
        let mut id = String::new();
        loop {
            let path = format!("/api/v1/namespaces/default/workflows/{run_id}/history");
            let request = format!("GET {path}?maximumPageSize=1&execution.runId={id}");
            let answer = ask(&self.http, &request, "");
            let body = json(&answer).unwrap_or_default();
            let start = &body["history"]["events"][0]["workflowExecutionStartedEventAttributes"];
            let text = |key: &str| start[key].as_str().unwrap_or_default().to_owned();
            if !start.is_object() {
                return Err(answer.into());
            }
            ids.insert(0, text("originalExecutionRunId"));
            id = text("continuedExecutionRunId");
            if id.is_empty() {
                return Ok(ids);
            }
        }
    }
}
