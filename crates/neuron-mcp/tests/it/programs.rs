//! The programs that the tests run.

use std::{
    env,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use neuron_mcp::McpServerSpec;
use neuron_types::{ContentItem, ToolOutput};
use serde_json::Value;

/// How long anything may take that is waited for.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A program of the protocol's own, by its name: the variable that `cargo xtask test` sets, else what
/// `cargo xtask engines` fetches.
pub(crate) fn program(name: &str) -> String {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let one = match env::var_os("NEURON_MCP_SERVERS") {
            Some(path) => PathBuf::from(path),
            None => fetch(),
        };
        one.parent().unwrap().to_owned()
    });
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing", path.display());
    path.to_str().unwrap().to_owned()
}

fn fetch() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let found = Command::new(cargo)
        .args(["xtask", "engines", "mcp-servers", "--json"])
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "{complaint}");
    let paths: Value = serde_json::from_slice(&found.stdout).unwrap();
    PathBuf::from(paths["mcp-servers"].as_str().unwrap())
}

pub(crate) fn everything() -> McpServerSpec {
    McpServerSpec::stdio(
        "everything",
        "node",
        [program("mcp-server-everything"), "stdio".to_owned()],
    )
}

pub(crate) fn filesystem(folder: &Path) -> McpServerSpec {
    let args = [
        program("mcp-server-filesystem"),
        folder.to_str().unwrap().to_owned(),
    ];
    McpServerSpec::stdio("files", "node", args)
}

/// A server that does what `mode` says: see `hostile.mjs`.
pub(crate) fn hostile(mode: &str) -> McpServerSpec {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/hostile.mjs");
    McpServerSpec::stdio("hostile", "node", [script, mode])
}

/// The everything server over HTTP, at a port that stays the same.
pub(crate) struct Everything {
    port: u16,
    process: Option<Child>,
}

impl Everything {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut server = Self {
            port,
            process: None,
        };
        server.start_again();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Kills it and returns when it is gone.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Returns when it listens.
    pub(crate) fn start_again(&mut self) {
        self.kill();
        let mut process = Command::new("node")
            .args([program("mcp-server-everything").as_str(), "streamableHttp"])
            .env("PORT", self.port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let listens = lines.any(|line| line.unwrap().contains("listening"));
        assert!(listens, "the everything server ended at once");
        // Somebody has to read what it goes on writing.
        std::thread::spawn(move || lines.for_each(drop));
        self.process = Some(process);
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The texts of a result, joined.
pub(crate) fn text(output: &ToolOutput) -> String {
    output
        .content
        .iter()
        .filter_map(|item| match item {
            ContentItem::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < DEADLINE, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process is there. One that has ended and that nobody waited for is not.
pub(crate) fn is_running(id: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    let state = status.rsplit(')').next().unwrap().trim();
    !state.starts_with('Z') && !state.starts_with('X')
}
