//! Temporal's server for tests, whose clock can be advanced.

use std::{env, fs::File, net::TcpStream, path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::{Process, fetched::fetched, free_address, until};

const VARIABLE: &str = "NEURON_TEMPORAL_TEST_SERVER";
const NAME: &str = "temporal-test-server";

/// A Temporal server that keeps nothing on disk, cannot list runs, and whose clock its clients advance: a run there
/// waits for weeks in a moment. Dropping it ends it.
#[derive(Debug)]
pub struct TimeSkippingServer {
    address: String,
    // The order matters: the process ends before its folder is removed.
    _process: Process,
    _folder: TempDir,
}

impl TimeSkippingServer {
    /// Starts a server on a free port, and waits until it listens. The program is named by
    /// `NEURON_TEMPORAL_TEST_SERVER`, or fetched by `cargo xtask engines`.
    ///
    /// # Panics
    ///
    /// If the program is missing or does not start.
    pub async fn start() -> Self {
        let program = match env::var_os(VARIABLE) {
            Some(path) => PathBuf::from(path),
            None => fetched(NAME).unwrap_or_else(|why| {
                panic!("there is no {NAME}, and {VARIABLE} is not set: {why}")
            }),
        };
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let address = free_address();
        let (_, port) = address.rsplit_once(':').unwrap();
        let mut command = Command::new(program);
        command.arg(port);
        command.stdout(log.try_clone().unwrap()).stderr(log);
        let mut process = Process::start(&mut command).unwrap();
        until(async || {
            let ended = process.ended().unwrap();
            assert_eq!(ended, None, "{NAME} did not start");
            TcpStream::connect(&address).ok()
        })
        .await;
        Self {
            address,
            _process: process,
            _folder: folder,
        }
    }

    /// Returns its address, as `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}
