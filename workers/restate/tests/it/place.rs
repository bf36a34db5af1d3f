//! A directory with an agent file, a Restate server, and worker processes that serve it.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use neuron_restate::{RestateClient, ServiceNames};
use neuron_runtime::AgentFile;
use neuron_types::{Message, RunId, RunInput, RunOutput};
use serde_json::Value;

use crate::server::Server;

const PROGRAM: &str = env!("CARGO_BIN_EXE_neuron-restate-worker");

pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: Arc<Server>,
    pub(crate) client: RestateClient,
    prefix: &'static str,
    /// A run in flight stays with the address that it was started at.
    pub(crate) listen: String,
}

impl Place {
    /// One whose agent `default` follows these turns, with the tool `bash`.
    pub(crate) async fn new(prefix: &'static str, turns: &Value) -> Self {
        Self::with_settings(prefix, turns, "").await
    }

    /// The same, with more lines for the agent.
    pub(crate) async fn with_settings(prefix: &'static str, turns: &Value, lines: &str) -> Self {
        let server = tokio::task::spawn_blocking(Server::shared).await.unwrap();
        Self::on(server, prefix, turns, lines)
    }

    /// The same, on this server.
    pub(crate) fn on(
        server: Arc<Server>,
        prefix: &'static str,
        turns: &Value,
        lines: &str,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = serde_json::json!({ "turns": turns }).to_string();
        fs::write(folder.path().join("script.json"), script).unwrap();
        let file = format!(
            "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\n\
             [agents.default]\nmodel = \"script/test\"\ntools = [\"bash\"]\n{lines}\n"
        );
        fs::write(folder.path().join("neuron.toml"), file).unwrap();
        let names = ServiceNames::new(prefix).unwrap();
        Self {
            folder,
            client: RestateClient::new(server.address.clone(), names).unwrap(),
            server,
            prefix,
            listen: free_address(),
        }
    }

    pub(crate) async fn worker(&self) -> WorkerProcess {
        self.worker_with(&[]).await
    }

    /// Starts a worker that registers itself, and waits until it has.
    pub(crate) async fn worker_with(&self, variables: &[(&str, &str)]) -> WorkerProcess {
        let worker = self.unregistered(variables);
        until(async || {
            let (status, _) = crate::server::get(&worker.health, "/readyz")?;
            (status == 200).then_some(())
        })
        .await;
        worker
    }

    /// Starts a worker, and does not wait until Restate knows it.
    pub(crate) fn unregistered(&self, variables: &[(&str, &str)]) -> WorkerProcess {
        let health = free_address();
        let mut process = command(self.folder.path())
            .args(["--listen", &self.listen, "--register", "--http", &health])
            .envs(variables.iter().copied())
            .env("RESTATE_ADMIN_URL", &self.server.address.admin_url)
            .env("NEURON_TASK_QUEUE", self.prefix)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        WorkerProcess {
            process,
            line,
            health,
        }
    }

    pub(crate) async fn start(&self, run_id: &str) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        let file = AgentFile::load(self.folder.path().join("neuron.toml")).unwrap();
        let input = RunInput {
            agent: file.agent("default").unwrap(),
            prompt: Message::user("Go."),
        };
        self.client.start(&run_id, &input).await.unwrap();
        run_id
    }

    pub(crate) async fn wait(&self, run_id: &RunId) -> RunOutput {
        let waiting = self.client.wait(run_id);
        let output = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        output.expect("the run ends within a minute").unwrap()
    }

    /// What the tools have written so far.
    pub(crate) fn effects(&self) -> String {
        fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default()
    }

    /// The run's events, as one text.
    pub(crate) async fn events(&self, run_id: &RunId) -> String {
        let events = self.client.events(run_id, 0).await.unwrap();
        serde_json::to_string(&events).unwrap()
    }
}

/// The worker's program with an environment that says nothing of this machine's.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).stdin(Stdio::null());
    for name in [
        "NEURON_CONFIG",
        "NEURON_TASK_QUEUE",
        "RESTATE_ADMIN_URL",
        "RESTATE_AUTH_TOKEN",
        "RESTATE_IDENTITY_KEYS",
        "RESTATE_INGRESS_URL",
        "RUST_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

/// A worker that is killed when it is dropped.
pub(crate) struct WorkerProcess {
    process: Child,
    /// What it says that it serves.
    pub(crate) line: String,
    pub(crate) health: String,
}

impl WorkerProcess {
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(sent.success());
        self.process.wait().unwrap()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Asks until there is an answer.
pub(crate) async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asking)
        .await
        .expect("it happens within a minute")
}

pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
