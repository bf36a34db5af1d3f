//! A Temporal dev server that lives as long as its owner.

use std::{
    env,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// A dev server on a free port, with an unthrottled task queue processor: with its default it makes 20 steps
/// a second.
pub(crate) struct DevServer {
    process: Child,
    pub(crate) address: String,
}

impl DevServer {
    pub(crate) fn start() -> Self {
        let port = free_port();
        let process = Command::new(program())
            .args(["server", "start-dev", "--headless", "--log-level", "error"])
            .args(["--port", &port.to_string()])
            .args([
                "--dynamic-config-value",
                "history.transferProcessorMaxPollRPS=100000",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the dev server can be started");
        let server = Self {
            process,
            address: format!("127.0.0.1:{port}"),
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(&server.address).is_err() {
            assert!(Instant::now() < deadline, "the dev server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// The dev server's program: `NEURON_TEMPORAL`, or what `cargo xtask engines` fetches.
pub(crate) fn program() -> PathBuf {
    if let Some(path) = env::var_os("NEURON_TEMPORAL") {
        return path.into();
    }
    let found = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["xtask", "engines", "temporal", "--json"])
        .output()
        .expect("cargo can be run");
    let paths: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
    let path = paths["temporal"].as_str().unwrap_or_else(|| {
        panic!(
            "there is no Temporal dev server: set NEURON_TEMPORAL to the temporal program, or see why \
             `cargo xtask engines temporal` fails: {}",
            String::from_utf8_lossy(&found.stderr)
        )
    });
    path.into()
}
