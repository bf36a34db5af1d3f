//! MCP servers for tests: the programs of the protocol's own makers, and two of this repository.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::{Process, fetched::fetched, free_address};

/// The variable with the program beside which the others are.
const VARIABLE: &str = "NEURON_MCP_SERVERS";

/// A server of this repository with the tools `fine` and `evil`, which does what its argument names. It is run by
/// `node`.
pub const HOSTILE_SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/blocks/mcp/tests/it/hostile.mjs"
);

/// A server of this repository that speaks the version of 2026-07-28 and asks before it answers, depending on the tool:
/// `twice` and `page` a person, `nobody` a model and the folders. It is run by `node`; with the argument `older` it is
/// an older one.
pub const ASKING_SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/blocks/mcp/tests/it/asking.mjs"
);

/// A server of our own with 400 tools that change nothing, such as `count_parcels_of_2023`. It is run by `node`.
pub const MANY_TOOLS_SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/blocks/mcp/tests/it/many.mjs"
);

/// Returns one of the protocol's own programs, by its name, to be run by `node`: `mcp-server-everything`,
/// `mcp-server-filesystem`, `mcp-inspector` or `conformance`. It is looked for beside the program of
/// `NEURON_MCP_SERVERS`, which `cargo xtask test` sets, otherwise where `cargo xtask engines` puts it.
///
/// # Panics
///
/// If the program is missing.
#[must_use]
pub fn mcp_program(name: &str) -> String {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let fetch = || fetched("mcp-servers").unwrap_or_else(|why| panic!("{why}"));
        let one = env::var_os(VARIABLE).map_or_else(fetch, PathBuf::from);
        one.parent().unwrap().to_owned()
    });
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing", path.display());
    path.to_str().unwrap().to_owned()
}

/// The server `mcp-server-everything` over HTTP, at an address that stays the same when it is killed and started again.
/// Dropping it kills it.
#[derive(Debug)]
pub struct EverythingServer {
    address: String,
    process: Option<Process>,
}

impl EverythingServer {
    /// Starts the server, and returns when it listens.
    ///
    /// # Panics
    ///
    /// If the server ends at once.
    #[must_use]
    pub fn start() -> Self {
        let mut server = Self {
            address: free_address(),
            process: None,
        };
        server.start_again();
        server
    }

    /// Returns its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Kills the server and returns when it is gone.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
        }
    }

    /// Starts the server again, and returns when it listens.
    ///
    /// # Panics
    ///
    /// If the server ends at once.
    pub fn start_again(&mut self) {
        self.kill();
        let (_, port) = self.address.rsplit_once(':').unwrap();
        let mut command = Command::new("node");
        command
            .args([
                mcp_program("mcp-server-everything").as_str(),
                "streamableHttp",
            ])
            .env("PORT", port)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = Process::start(&mut command).unwrap();
        let mut lines = BufReader::new(process.take_stderr().unwrap()).lines();
        let listens = lines.any(|line| line.unwrap().contains("listening"));
        assert!(listens, "the everything server ended at once");
        // The server's further output has to be read.
        std::thread::spawn(move || lines.for_each(drop));
        self.process = Some(process);
    }
}
