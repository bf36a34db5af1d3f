//! The conformance kit: a server for each scenario, and workers that are separate processes.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use neuron_engine::RunClient;
use neuron_harness::{
    Engine, EngineServer, Process, free_address,
    http::{self, ask, has_status},
};
use neuron_restate::{RestateClient, ServerAddress, ServiceNames};
use neuron_testing::{ClientSession, Host, HostError, World};
use neuron_types::RunId;
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::Mutex};

neuron_testing::conformance!(engine: RestateHost::start().await);
neuron_testing::run_client!(RestateHost::start().await);

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_away_is_said_to_be() {
    let address = ServerAddress {
        ingress_url: format!("http://{}", free_address()),
        admin_url: format!("http://{}", free_address()),
        auth_token: None,
        auth_token_file: None,
    };
    let client = RestateClient::new(address, ServiceNames::new("away").unwrap()).unwrap();
    neuron_testing::run_client::an_engine_that_is_away_is_said_to_be(Arc::new(client)).await;
}

struct RestateHost {
    server: Arc<Mutex<EngineServer>>,
    continue_as_new_after: Option<u64>,
}

impl RestateHost {
    async fn start() -> Self {
        let server = EngineServer::find(Engine::Restate).await.unwrap();
        Self {
            server: Arc::new(Mutex::new(server)),
            continue_as_new_after: None,
        }
    }
}

struct RestateSession {
    server: Arc<Mutex<EngineServer>>,
    ingress: String,
    client: RestateClient,
    /// The same client.
    runs: Arc<dyn RunClient>,
    prefix: String,
    /// Where its workers listen, one after another: a run stays with the address that it was started at.
    listen: SocketAddr,
    world: World,
    admin: String,
    continue_as_new_after: Option<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    worker: Option<Process>,
    has_executed: bool,
}

impl Host for RestateHost {
    type Session = RestateSession;
    const SURVIVES: bool = true;
    const HAS_ENGINE: bool = true;
    const ROLLS_OVER: bool = true;
    /// A worker does not get the number of times that the server has tried an invocation.
    const COUNTS_LOST_WORKERS: bool = false;

    fn rolling_over_after(&self, events: u64) -> Self {
        Self {
            server: Arc::clone(&self.server),
            continue_as_new_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<RestateSession, HostError> {
        let addresses = self.server.lock().await.addresses().clone();
        let server = ServerAddress {
            ingress_url: addresses.main.clone(),
            admin_url: addresses.http.clone(),
            auth_token: None,
            auth_token_file: None,
        };
        let prefix = format!("of-{}", world.run_id("scenario"));
        let client = RestateClient::new(server, ServiceNames::new(&prefix)?)?;
        let session = RestateSession {
            server: Arc::clone(&self.server),
            ingress: addresses.main,
            runs: Arc::new(client.clone()),
            client,
            prefix,
            listen: TcpListener::bind("127.0.0.1:0")?.local_addr()?,
            world: world.clone(),
            admin: addresses.http,
            continue_as_new_after: self.continue_as_new_after,
            state: Mutex::default(),
        };
        // The server learns of the services from a worker, and keeps them.
        let worker = session.start_worker().await?;
        let url = format!("http://{}", session.listen);
        session.client.register_over(&url).await?;
        drop(worker);
        Ok(session)
    }
}

impl RestateSession {
    async fn start_worker(&self) -> Result<Process, HostError> {
        let mut variables = vec![
            ("NEURON_TESTING_LISTEN", self.listen.to_string()),
            ("NEURON_TESTING_PREFIX", self.prefix.clone()),
            (
                "NEURON_TESTING_WORLD",
                self.world.address().await.to_string(),
            ),
            ("NEURON_TESTING_AGENTS", self.world.agents_json()),
        ];
        let entries = self.continue_as_new_after;
        variables.extend(entries.map(|entries| ("NEURON_TESTING_ROLL_OVER", entries.to_string())));
        let worker = Process::start_example("restate_conformance_worker", &variables)?;
        while TcpStream::connect(self.listen).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await; // Between two looks.
        }
        Ok(worker)
    }
}

impl ClientSession for RestateSession {
    fn client(&self) -> &Arc<dyn RunClient> {
        &self.runs
    }

    async fn execute(&self) -> Result<(), HostError> {
        let worker = self.start_worker().await?;
        let mut state = self.state.lock().await;
        state.worker = Some(worker);
        state.has_executed = true;
        Ok(())
    }

    async fn kill(&self) -> Result<(), HostError> {
        self.state.lock().await.worker = None;
        Ok(())
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        Ok(self.server.lock().await.restart().await?)
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        let state = self.state.lock().await;
        if !state.has_executed {
            let reason = "a run that has not begun is not known to its handlers";
            return Err(HostError::Refused(reason.to_owned()));
        }
        if state.worker.is_some() {
            return Ok(self.runs.signal(run_id, name, payload).await?);
        }
        // The server keeps the signal until there is a worker.
        let request = format!("POST /{}/{run_id}/signal/send", self.prefix);
        let body = json!({"name": name, "payload": payload}).to_string();
        let answer = ask(&self.ingress, &request, &body);
        if has_status(&answer, 202) {
            Ok(())
        } else {
            Err(answer.into())
        }
    }

    /// Returns the number of invocations: that of `run` and those of its later segments.
    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        let prefix = &self.prefix;
        let query = format!(
            "SELECT count(*) AS histories FROM sys_invocation \
             WHERE target IN ('{prefix}/{run_id}/run', '{prefix}-segments/{run_id}/segment')"
        );
        let answer = ask(
            &self.admin,
            "POST /query",
            &json!({"query": query}).to_string(),
        );
        let body = http::json(&answer).unwrap_or_default();
        let histories = body["rows"][0]["histories"].as_u64();
        histories.ok_or_else(|| answer.into())
    }
}
