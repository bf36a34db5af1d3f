//! An independent fake of the model APIs: `@copilotkit/aimock`.

use std::{env, process::Command};

use neuron_patience::lag;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Running, eventually, http};

/// A server on a port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Aimock {
    address: String,
    // The order matters: the process ends before its folder is removed.
    _process: Running,
    _folder: TempDir,
}

impl Aimock {
    /// Starts a server with these fixtures. A request that matches none is rejected.
    ///
    /// # Panics
    ///
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start(fixtures: &Value) -> Self {
        let program = env::var_os("NEURON_AIMOCK").expect(
            "NEURON_AIMOCK is not set: run the tests with `cargo xtask test`, or set it to the path \
             that `cargo xtask engines aimock` prints",
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fixtures.json");
        std::fs::write(&file, fixtures.to_string()).unwrap();
        let mut command = Command::new(program);
        command
            .args(["-p", "0", "--strict", "--journal-max", "0"])
            .args(["--chaos-latency", &lag().as_millis().to_string()])
            .arg("-f")
            .arg(&file);
        let mut process = Running::start(command, &folder.path().join("aimock"));
        let address = eventually("address of aimock", || {
            let said = process.stdout();
            assert!(
                process.is_running(),
                "aimock did not start: {said}{}",
                process.stderr()
            );
            let (_, rest) = said.split_once("listening on http://")?;
            let (address, _) = rest.split_once('\n')?;
            Some(address.trim().to_owned())
        });
        Self {
            address,
            _process: process,
            _folder: folder,
        }
    }

    /// Returns the address without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests that it got, in order: each entry has `path`, `headers`, `body` and `response`. A body is
    /// in the Chat Completions form, whatever the API was: it is what aimock understood.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[must_use]
    pub fn journal(&self) -> Vec<Value> {
        let answer = http::ask(&self.url(), "GET /__aimock/journal", "");
        match http::json(&answer) {
            Some(Value::Array(entries)) => entries,
            _ => panic!("no journal: {answer}"),
        }
    }
}
