use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use neuron_harness::{Aimock, Engine, EngineServer};
use neuron_patience::patience;
use serde_json::json;

/// A worker that ends with the test.
struct Serving {
    process: Child,
    health: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Serving {
    fn start(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let (_, health) = line.split_once("http://").expect("an address");
        let (health, _) = health.split_once('/').unwrap();
        Self {
            process,
            health: health.to_owned(),
        }
    }

    /// The status and the body of an answer.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.health).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, body.to_owned())
    }

    /// Ends it as an operator does.
    fn stop(mut self) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(sent.success());
        assert!(self.process.wait().unwrap().success());
    }
}

fn check(engine: &str, metric: &str, variables: &[(&str, &str)]) {
    let model = Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "Greet Ada."}, "response": {"content": "Hello, Ada."}}
    ]}));
    let home = tempfile::tempdir().unwrap();
    let program = |program: &str, arguments: &[&str], home: &Path| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(home)
            .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("HEALTH_ADDRESS", "127.0.0.1:0")
            .env("LISTEN_ADDRESS", "127.0.0.1:0")
            .env("NO_PROXY", "127.0.0.1")
            .envs(variables.iter().copied());
        command
    };
    let worker = Serving::start(program(
        env!("CARGO_BIN_EXE_worker"),
        &[engine],
        home.path(),
    ));
    let begun = Instant::now();
    while worker.get("/readyz").0 != 200 {
        assert!(begun.elapsed() < patience(), "{:?}", worker.get("/readyz"));
    }
    assert_eq!(worker.get("/healthz"), (200, "ok\n".to_owned()));
    for _ in 0..2 {
        // The second attaches to the run of the first.
        let output = program(env!("CARGO_BIN_EXE_client"), &[engine, "Ada"], home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello, Ada.\n");
    }
    assert_eq!(model.journal().len(), 1);
    let (status, metrics) = worker.get("/metrics");
    assert_eq!(status, 200);
    assert!(metrics.contains(metric), "{metrics}");
    worker.stop();
}

#[test]
fn a_worker_and_a_client_share_a_journal() {
    check("local", "neuron_local_runs_ended_total 1", &[]);
}

#[tokio::test]
async fn a_worker_serves_on_temporal_what_a_client_starts() {
    let server = EngineServer::shared(Engine::Temporal).await.unwrap();
    let variables = [("TEMPORAL_ADDRESS", server.addresses().main.as_str())];
    check("temporal", "temporal_workflow_completed", &variables);
}

#[tokio::test]
async fn a_worker_serves_on_restate_what_a_client_starts() {
    let server = EngineServer::shared(Engine::Restate).await.unwrap();
    let addresses = server.addresses();
    let variables = [
        ("RESTATE_INGRESS_URL", addresses.main.as_str()),
        ("RESTATE_ADMIN_URL", addresses.http.as_str()),
    ];
    check("restate", "neuron_attempts_total", &variables);
}
