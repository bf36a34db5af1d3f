//! A directory with an agent file, a dev server, and worker processes that serve it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use neuron_runtime::AgentFile;
use neuron_temporal::AgentClient;
use neuron_types::{Message, RunId, RunInput};
use serde_json::Value;
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};

use crate::dev_server::DevServer;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_neuron-temporal-worker");

pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) server: DevServer,
    pub(crate) client: AgentClient,
}

impl Place {
    /// One whose agent `default` follows these turns, with the tool `bash`.
    pub(crate) async fn new(turns: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = serde_json::json!({ "turns": turns }).to_string();
        fs::write(folder.path().join("script.json"), script).unwrap();
        fs::write(
            folder.path().join("neuron.toml"),
            "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\n\
             [agents.default]\nmodel = \"script/test\"\ntools = [\"bash\"]\n",
        )
        .unwrap();
        let server = tokio::task::spawn_blocking(DevServer::start).await.unwrap();
        let url: Url = format!("http://{}", server.address).parse().unwrap();
        let connection = until(async || {
            let options = ConnectionOptions::new(url.clone()).build();
            Connection::connect(options).await.ok()
        })
        .await;
        let client = Client::new(connection, ClientOptions::new("default").build()).unwrap();
        Self {
            folder,
            client: AgentClient::new(client, server.address.clone()),
            server,
        }
    }

    pub(crate) fn worker(&self) -> WorkerProcess {
        self.worker_with(&[])
    }

    pub(crate) fn worker_with(&self, args: &[&str]) -> WorkerProcess {
        let mut process = command(self.folder.path())
            .env("TEMPORAL_ADDRESS", &self.server.address)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        WorkerProcess { process, line }
    }

    pub(crate) async fn start(&self, run_id: &str) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        let file = AgentFile::load(self.folder.path().join("neuron.toml")).unwrap();
        let input = RunInput {
            agent: file.agent("default").unwrap(),
            prompt: Message::user("Go."),
        };
        self.client.start(&run_id, input, "neuron").await.unwrap();
        run_id
    }

    /// What the tools have written so far.
    pub(crate) fn effects(&self) -> String {
        fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default()
    }
}

/// The worker's program with an environment that says nothing of this machine's.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).stdin(Stdio::null());
    for name in ["TEMPORAL_NAMESPACE", "TEMPORAL_API_KEY", "NEURON_CONFIG"] {
        command.env_remove(name);
    }
    command
        .env_remove("NEURON_TASK_QUEUE")
        .env_remove("RUST_LOG");
    command
}

/// A worker that is killed when it is dropped.
pub(crate) struct WorkerProcess {
    process: Child,
    /// What it says that it serves.
    pub(crate) line: String,
}

impl WorkerProcess {
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) -> std::process::ExitStatus {
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

/// The status code and the body of a GET.
pub(crate) fn get(address: &str, path: &str) -> Option<(u16, String)> {
    use std::io::Write as _;

    let mut stream = std::net::TcpStream::connect(address).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let code = answer.split_whitespace().nth(1)?.parse().ok()?;
    let body = answer.split_once("\r\n\r\n")?.1.to_owned();
    Some((code, body))
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
