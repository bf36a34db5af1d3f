//! A directory with an agent file, a dev server, and worker processes that serve it.

use std::{path::Path, process::Command};

use neuron_temporal::AgentClient;
use neuron_testing::{AgentFolder, Engine, EngineServer, Program, program_in, until};
use neuron_types::RunId;
use serde_json::Value;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};

pub(crate) struct Place {
    pub(crate) folder: AgentFolder,
    pub(crate) server: EngineServer,
    pub(crate) client: AgentClient,
}

impl Place {
    /// One whose agent `default` follows these turns, with the tool `bash`.
    pub(crate) async fn new(turns: &Value) -> Self {
        let server = EngineServer::find(Engine::Temporal).await.unwrap();
        let address = server.addresses().main.clone();
        let url: Url = format!("http://{address}").parse().unwrap();
        let connection = until(async || {
            let options = ConnectionOptions::new(url.clone()).build();
            Connection::connect(options).await.ok()
        })
        .await;
        let client = Client::new(connection, ClientOptions::new("default").build()).unwrap();
        Self {
            folder: AgentFolder::new(turns, ""),
            client: AgentClient::new(client, address),
            server,
        }
    }

    pub(crate) fn worker(&self) -> Program {
        self.worker_with(&[])
    }

    pub(crate) fn worker_with(&self, args: &[&str]) -> Program {
        let mut command = command(self.folder.path());
        command.env("TEMPORAL_ADDRESS", &self.server.addresses().main);
        Program::start(command.args(args)).unwrap()
    }

    pub(crate) async fn start(&self, run_id: &str) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        let started = self.client.start(&run_id, self.folder.input(), "neuron");
        started.await.unwrap();
        run_id
    }
}

/// The worker's program.
pub(crate) fn command(folder: &Path) -> Command {
    program_in(folder, env!("CARGO_BIN_EXE_neuron-temporal-worker"))
}
