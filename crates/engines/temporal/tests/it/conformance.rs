//! The conformance kit: a server for each scenario, and workers that are separate processes.

mod histories;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use neuron_engine::{RunClient, RunClientError};
use neuron_harness::{
    Engine, EngineServer, Process, free_address,
    http::{ask, has_status, json},
};
use neuron_patience::patience;
use neuron_temporal::AgentClient;
use neuron_testing::{ClientSession, Host, HostError, World};
use neuron_types::{RunId, RunOutput};
use serde_json::Value;
use tokio::sync::Mutex;

/// The delay after a server asked for patience.
const BETWEEN: Duration = Duration::from_millis(10); // Between two looks.

neuron_testing::conformance!(engine: TemporalHost::start().await);
neuron_testing::run_client!(TemporalHost::start().await);

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_said_to_be() {
    let nobody = free_address();
    let connecting = AgentClient::connect_to(&nobody, "default");
    let refused = tokio::time::timeout(patience(), connecting).await;
    let refused = refused.expect("an error in time");
    assert!(
        matches!(refused, Err(RunClientError::Unreachable { .. })),
        "{refused:?}"
    );

    let server = EngineServer::find(Engine::Temporal).await.unwrap();
    let client = AgentClient::connect_to(&server.addresses().main, "default").await;
    let client = client.unwrap();
    drop(server);
    neuron_testing::run_client::an_engine_that_is_away_is_said_to_be(Arc::new(client)).await;
}

struct TemporalHost {
    server: Arc<Mutex<EngineServer>>,
    continue_as_new_after: Option<u64>,
}

impl TemporalHost {
    async fn start() -> Self {
        let server = EngineServer::find(Engine::Temporal).await.unwrap();
        Self {
            server: Arc::new(Mutex::new(server)),
            continue_as_new_after: None,
        }
    }
}

struct TemporalSession {
    server: Arc<Mutex<EngineServer>>,
    address: String,
    client: AgentClient,
    /// The same client.
    runs: Arc<dyn RunClient>,
    queue: String,
    world: World,
    http: String,
    continue_as_new_after: Option<u64>,
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
            continue_as_new_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<TemporalSession, HostError> {
        let addresses = self.server.lock().await.addresses().clone();
        let address = addresses.main;
        let queue = world.run_id("queue").to_string();
        let client = AgentClient::connect_to(&address, "default").await?;
        let client = client.with_task_queue(&queue);
        Ok(TemporalSession {
            server: Arc::clone(&self.server),
            runs: Arc::new(client.clone()),
            client,
            address,
            queue,
            world: world.clone(),
            http: addresses.http,
            continue_as_new_after: self.continue_as_new_after,
            worker: Mutex::default(),
        })
    }
}

impl ClientSession for TemporalSession {
    fn client(&self) -> &Arc<dyn RunClient> {
        &self.runs
    }

    async fn execute(&self) -> Result<(), HostError> {
        let mut variables = vec![
            ("NEURON_TESTING_SERVER", self.address.clone()),
            ("NEURON_TESTING_QUEUE", self.queue.clone()),
            (
                "NEURON_TESTING_WORLD",
                self.world.address().await.to_string(),
            ),
            ("NEURON_TESTING_AGENTS", self.world.agents_json()),
        ];
        let events = self.continue_as_new_after;
        variables.extend(events.map(|events| ("NEURON_TESTING_ROLL_OVER", events.to_string())));
        let worker = Process::start_example("temporal_conformance_worker", &variables)?;
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

    /// Sends the signal as any client of Temporal does: nothing checks the signal, and no worker is needed.
    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        let path = format!("/api/v1/namespaces/default/workflows/{run_id}/signal/{name}");
        let body = serde_json::json!({ "input": [payload] }).to_string();
        let deadline = Instant::now() + patience();
        loop {
            let answer = ask(&self.http, &format!("POST {path}"), &body);
            if has_status(&answer, 200) {
                return Ok(());
            }
            // A run that is just ending a segment takes no signal, and the server answers with 429.
            if !has_status(&answer, 429) || Instant::now() > deadline {
                return Err(answer.into());
            }
            tokio::time::sleep(BETWEEN).await; // Between two looks.
        }
    }

    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        Ok(self.history_ids(run_id)?.len() as u64)
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        let output = self.runs.wait_for_end(run_id).await?;
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
    /// Returns Temporal's ids of the run's histories, the oldest first. Each history names the one that it continues.
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
