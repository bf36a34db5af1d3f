//! A directory with an agent file, a dev server, and worker processes that serve it.

use std::{path::Path, process::Command};

use neuron_engine::RunClient as _;
use neuron_harness::{Engine, EngineServer, FakeModel, Program, program_in, until};
use neuron_temporal::AgentClient;
use neuron_testing::AgentFolder;
use neuron_types::{RunId, RunRequest};
use serde_json::Value;

pub(crate) struct Place {
    pub(crate) folder: AgentFolder,
    pub(crate) server: EngineServer,
    pub(crate) client: AgentClient,
}

impl Place {
    /// Returns a place whose agent `default` follows these turns, with the tool `bash`.
    pub(crate) async fn new(turns: &Value) -> Self {
        Self::with_settings(turns, "").await
    }

    /// Returns a place whose agent `default` asks this model.
    pub(crate) async fn asking(model: &FakeModel) -> Self {
        Self::of(AgentFolder::asking(model)).await
    }

    /// Returns the place of [`new`](Self::new), with more lines for the agent.
    pub(crate) async fn with_settings(turns: &Value, lines: &str) -> Self {
        Self::of(AgentFolder::new(turns, lines)).await
    }

    /// Returns a place that serves this folder.
    pub(crate) async fn of(folder: AgentFolder) -> Self {
        let server = EngineServer::find(Engine::Temporal).await.unwrap();
        let address = server.addresses().main.clone();
        let connect = async || AgentClient::connect_to(&address, "default").await.ok();
        Self {
            folder,
            client: until(connect).await,
            server,
        }
    }

    pub(crate) fn worker(&self) -> Program {
        self.worker_with(&[])
    }

    pub(crate) fn worker_with(&self, args: &[&str]) -> Program {
        let mut command = command(self.folder.path());
        command.env("TEMPORAL_ADDRESS", &self.server.addresses().main);
        // A killed worker is noticed soon.
        command.args([
            "--heartbeat-timeout=10s", // How soon a lost worker is noticed; one that lives beats often.
            "--write-heartbeat-timeout=10s", // As above: no result depends on it.
        ]);
        Program::start(command.args(args)).unwrap()
    }

    /// Returns a worker with default settings that reaches the server at this address.
    pub(crate) fn worker_at(&self, address: &str) -> Program {
        let mut command = command(self.folder.path());
        Program::start(command.env("TEMPORAL_ADDRESS", address)).unwrap()
    }

    pub(crate) async fn start(&self, run_id: &str) -> RunId {
        self.start_with(run_id, AgentFolder::request()).await
    }

    pub(crate) async fn start_with(&self, run_id: &str, request: RunRequest) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        self.client.start(&run_id, request).await.unwrap();
        run_id
    }
}

/// Returns the worker's program.
pub(crate) fn command(folder: &Path) -> Command {
    program_in(folder, env!("CARGO_BIN_EXE_neuron-temporal-worker"))
}
