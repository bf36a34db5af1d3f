//! An independent fake of the model APIs that breaks its answers on demand and judges the client: `llmock`.

use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Running, eventually, http, python};

/// A server on a port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Llmock {
    address: String,
    // The order matters: the process ends before its folder is removed.
    _process: Running,
    _folder: TempDir,
}

impl Llmock {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(python());
        command
            .args(["-c", "from llmock.cli import app; app()"])
            .args(["serve", "--host", "127.0.0.1", "--port", "0"])
            // A model is as slow. Without the delay a whole stream is sent before the fake can notice that it is not
            // read any more, and it blames the client for that.
            .args(["--stream-chunk-delay-ms", "25"]) // What the fake judges by; it is not the test that does.
            .current_dir(folder.path());
        let mut process = Running::start(command, &folder.path().join("llmock"));
        let address = eventually("address of llmock", || {
            let said = process.stderr();
            assert!(process.is_running(), "llmock did not start: {said}");
            let (_, rest) = said.split_once("running on http://")?;
            let (address, _) = rest.split_once(' ')?;
            Some(address.to_owned())
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

    /// Sets the behaviour for the next requests, each behaviour once unless it sets a number.
    ///
    /// # Panics
    ///
    /// If the server does not accept the behaviours.
    pub fn behave(&self, behaviors: &Value) {
        let answer = self.ask("POST", "scenario", &json!({"behaviors": behaviors}));
        assert!(answer["queued"].is_u64(), "{answer}");
    }

    /// Returns how many requests arrived.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.ask("GET", "requests", &Value::Null)["count"]
            .as_u64()
            .unwrap()
    }

    /// Checks that the client did nothing that deserves even a warning.
    ///
    /// # Panics
    ///
    /// If the client did.
    pub fn finds_nothing_wrong(&self) {
        let verdict = self.ask("GET", "verdict", &Value::Null);
        assert_eq!(verdict["passed"], true, "{verdict:#}");
        assert_eq!(verdict["findings"], json!([]), "{verdict:#}");
        let waiting = self.ask("GET", "scenario", &Value::Null);
        assert_eq!(waiting["pending"], json!([]), "a fault was never met");
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let request = format!("{method} /_llmock/{path}");
        let answer = http::ask(&self.url(), &request, &body.to_string());
        http::json(&answer).unwrap_or_else(|| panic!("no JSON: {answer}"))
    }
}
