//! A directory with an agent file, a Restate server, and worker processes that serve it.

use std::{path::Path, process::Command, sync::Arc};

use neuron_engine::RunClient as _;
use neuron_harness::{
    Engine, EngineServer, FakeModel, Program, free_address, http, program_in, until,
};
use neuron_patience::patience;
use neuron_restate::{RestateClient, ServerAddress, ServiceNames};
use neuron_testing::AgentFolder;
use neuron_types::{RunId, RunOutput, RunRequest};
use serde_json::Value;

pub(crate) struct Place {
    pub(crate) folder: AgentFolder,
    pub(crate) address: ServerAddress,
    pub(crate) client: RestateClient,
    prefix: &'static str,
    /// The worker's address. A run in flight stays with the address that it was started at.
    pub(crate) listen: String,
    /// The server, which ends with the last place on it.
    _server: Arc<EngineServer>,
}

impl Place {
    /// Returns a place whose agent `default` follows these turns, with the tool `bash`.
    pub(crate) async fn new(prefix: &'static str, turns: &Value) -> Self {
        Self::with_settings(prefix, turns, "").await
    }

    /// Returns a place whose agent `default` asks this model.
    pub(crate) async fn asking(prefix: &'static str, model: &FakeModel) -> Self {
        Self::serving(prefix, AgentFolder::asking(model)).await
    }

    /// Returns a place that serves this folder.
    pub(crate) async fn serving(prefix: &'static str, folder: AgentFolder) -> Self {
        let server = EngineServer::shared(Engine::Restate).await.unwrap();
        Self::of(server, prefix, folder)
    }

    /// Returns the place of [`new`](Self::new), with more lines for the agent.
    pub(crate) async fn with_settings(prefix: &'static str, turns: &Value, lines: &str) -> Self {
        let server = EngineServer::shared(Engine::Restate).await.unwrap();
        Self::on(server, prefix, turns, lines)
    }

    /// Returns the same, on this server.
    pub(crate) fn on(
        server: Arc<EngineServer>,
        prefix: &'static str,
        turns: &Value,
        lines: &str,
    ) -> Self {
        Self::of(server, prefix, AgentFolder::new(turns, lines))
    }

    fn of(server: Arc<EngineServer>, prefix: &'static str, folder: AgentFolder) -> Self {
        let addresses = server.addresses();
        let address = ServerAddress {
            ingress_url: addresses.main.clone(),
            admin_url: addresses.http.clone(),
            auth_token: None,
            auth_token_file: None,
        };
        let names = ServiceNames::new(prefix).unwrap();
        Self {
            folder,
            client: RestateClient::new(address.clone(), names).unwrap(),
            address,
            prefix,
            listen: free_address(),
            _server: server,
        }
    }

    pub(crate) async fn worker(&self) -> Worker {
        self.worker_with(&[]).await
    }

    /// Starts a worker that registers itself, and waits until it has.
    pub(crate) async fn worker_with(&self, variables: &[(&str, &str)]) -> Worker {
        self.unregistered(variables).registered().await
    }

    /// Returns the same, with more arguments.
    pub(crate) async fn worker_called_with(&self, arguments: &[&str]) -> Worker {
        self.called_with(arguments, &[]).registered().await
    }

    /// Starts a worker, and does not wait until Restate knows it.
    pub(crate) fn unregistered(&self, variables: &[(&str, &str)]) -> Worker {
        self.called_with(&[], variables)
    }

    fn called_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Worker {
        self.program(&[&["--register-force"], arguments].concat(), variables)
    }

    /// Starts a worker that registers itself in this manner, and does not wait until it has.
    pub(crate) fn registering(&self, how: &str) -> Worker {
        self.program(&[how], &[])
    }

    /// Returns the same place, with workers at another place's address.
    pub(crate) fn listening_at(mut self, other: &Self) -> Self {
        self.listen.clone_from(&other.listen);
        self
    }

    fn program(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Worker {
        let health = free_address();
        let mut command = command(self.folder.path());
        command
            .args(["--listen", &self.listen, "--http", &health])
            .args(arguments)
            .envs(variables.iter().copied())
            .env("RESTATE_ADMIN_URL", &self.address.admin_url)
            .env("NEURON_TASK_QUEUE", self.prefix);
        let program = Program::start(&mut command).unwrap();
        Worker { program, health }
    }

    pub(crate) async fn start(&self, run_id: &str) -> RunId {
        self.start_with(run_id, AgentFolder::request()).await
    }

    pub(crate) async fn start_with(&self, run_id: &str, request: RunRequest) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        self.client.start(&run_id, request).await.unwrap();
        run_id
    }

    pub(crate) async fn wait(&self, run_id: &RunId) -> RunOutput {
        let waiting = self.client.wait_for_end(run_id);
        let output = tokio::time::timeout(patience(), waiting).await;
        output.expect("the run ends").unwrap()
    }

    /// Returns the run's events, as one text.
    pub(crate) async fn events(&self, run_id: &RunId) -> String {
        let events = self.client.events_after(run_id, 0).await.unwrap();
        serde_json::to_string(&events).unwrap()
    }
}

/// A worker, and its health address.
pub(crate) struct Worker {
    pub(crate) program: Program,
    pub(crate) health: String,
}

impl Worker {
    async fn registered(self) -> Self {
        until(async || {
            let (status, _) = http::get(&self.health, "/readyz")?;
            (status == 200).then_some(())
        })
        .await;
        self
    }
}

/// Returns the worker's program.
pub(crate) fn command(folder: &Path) -> Command {
    program_in(folder, env!("CARGO_BIN_EXE_neuron-restate-worker"))
}
