//! Restate's door: a server for each scenario, and workers that are processes of their own.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use neuron_restate::{ClientError, RestateClient, ServerAddress, ServiceNames};
use neuron_testing::{Engine, EngineServer, Host, HostError, Process, Session, World};
use neuron_types::{Decision, RecordedEvent, RunId, RunInput, RunOutput, RunStatus, UserMessage};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::Mutex};

use crate::http::{self, ask, has_status};

neuron_testing::conformance!(engine: RestateHost::start().await);

struct RestateHost {
    server: Arc<Mutex<EngineServer>>,
    roll_over_after: Option<u64>,
}

impl RestateHost {
    async fn start() -> Self {
        let server = EngineServer::find(Engine::Restate).await.unwrap();
        Self {
            server: Arc::new(Mutex::new(server)),
            roll_over_after: None,
        }
    }
}

struct RestateSession {
    server: Arc<Mutex<EngineServer>>,
    ingress: String,
    client: RestateClient,
    prefix: String,
    /// Where its workers listen, one after another: a run stays with the address that it was started at.
    listen: SocketAddr,
    world: SocketAddr,
    admin: String,
    roll_over_after: Option<u64>,
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

    fn rolling_over_after(&self, events: u64) -> Self {
        Self {
            server: Arc::clone(&self.server),
            roll_over_after: Some(events),
        }
    }

    async fn open(&self, world: &World) -> Result<RestateSession, HostError> {
        let addresses = self.server.lock().await.addresses().clone();
        let server = ServerAddress {
            ingress_url: addresses.main.clone(),
            admin_url: addresses.http.clone(),
            auth_token: None,
        };
        let prefix = format!("of-{}", world.run_id("scenario"));
        let session = RestateSession {
            server: Arc::clone(&self.server),
            ingress: addresses.main,
            client: RestateClient::new(server, ServiceNames::new(&prefix)?)?,
            prefix,
            listen: TcpListener::bind("127.0.0.1:0")?.local_addr()?,
            world: world.address().await,
            admin: addresses.http,
            roll_over_after: self.roll_over_after,
            state: Mutex::default(),
        };
        // The server learns of the services from a worker, and keeps them.
        let worker = session.start_worker().await?;
        let url = format!("http://{}", session.listen);
        session.client.register(&url).await?;
        drop(worker);
        Ok(session)
    }
}

impl RestateSession {
    async fn start_worker(&self) -> Result<Process, HostError> {
        let mut variables = vec![
            ("NEURON_TESTING_LISTEN", self.listen.to_string()),
            ("NEURON_TESTING_PREFIX", self.prefix.clone()),
            ("NEURON_TESTING_WORLD", self.world.to_string()),
        ];
        let entries = self.roll_over_after;
        variables.extend(entries.map(|entries| ("NEURON_TESTING_ROLL_OVER", entries.to_string())));
        let worker = Process::start_example("conformance_worker", "restate", &variables)?;
        while TcpStream::connect(self.listen).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(worker)
    }
}

fn refusals(error: ClientError) -> HostError {
    match error {
        ClientError::Refused { status, .. } if status < 500 => {
            HostError::Refused(error.to_string())
        }
        error => error.into(),
    }
}

impl Session for RestateSession {
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

    async fn submit(&self, run_id: &RunId, input: RunInput) -> Result<(), HostError> {
        Ok(self.client.start(run_id, &input).await?)
    }

    async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), HostError> {
        let decided = self.client.decide(run_id, decision).await;
        decided.map_err(refusals)
    }

    async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), HostError> {
        Ok(self.client.send(run_id, &message.text).await?)
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        let state = self.state.lock().await;
        if !state.has_executed {
            let reason = "a run that has not begun is not known to its handlers";
            return Err(HostError::Refused(reason.to_owned()));
        }
        if state.worker.is_some() {
            let sent = self.client.signal(run_id, name, payload).await;
            return sent.map_err(refusals);
        }
        // The server keeps it until there is a worker.
        let request = format!("POST /{}/{run_id}/signal/send", self.prefix);
        let body = json!({"name": name, "payload": payload}).to_string();
        let answer = ask(&self.ingress, &request, &body);
        if has_status(&answer, 202) {
            Ok(())
        } else {
            Err(answer.into())
        }
    }

    async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), HostError> {
        Ok(self.client.cancel(run_id, reason).await?)
    }

    async fn status(&self, run_id: &RunId) -> Result<RunStatus, HostError> {
        Ok(self.client.status(run_id).await?)
    }

    async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, HostError> {
        Ok(self.client.events(run_id, 0).await?)
    }

    /// An invocation each, that of `run` and those of its later segments.
    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        let workflow = format!("{}/{run_id}", self.prefix);
        let query = format!(
            "SELECT count(*) AS histories FROM sys_invocation \
             WHERE target IN ('{workflow}/run', '{workflow}/segment')"
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

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        Ok(self.client.wait(run_id).await?)
    }
}
