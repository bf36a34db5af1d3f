//! An independent receiver of OTLP over HTTP that shows what it was sent: `oteltap`.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Running, eventually, free_address, python};

/// A receiver on a port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Oteltap {
    address: String,
    // The order matters: the process ends before its folder is removed.
    process: Running,
    _folder: TempDir,
}

impl Oteltap {
    /// Starts a receiver.
    ///
    /// # Panics
    ///
    /// If the program is missing or does not start.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let (_, port) = address.split_once(':').unwrap();
        let mut command = Command::new(python());
        command
            // Without this, lines are buffered until there are many.
            .args(["-u", "-m", "oteltap", "--port", port])
            .current_dir(folder.path());
        let mut process = Running::start(command, &folder.path().join("oteltap"));
        eventually("word of oteltap", || {
            let said = process.stderr();
            assert!(process.is_running(), "oteltap did not start: {said}");
            process.stdout().contains("Listening for").then_some(())
        });
        Self {
            address,
            process,
            _folder: folder,
        }
    }

    /// Returns the value for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the spans that arrived so far, as OTLP writes them in JSON, with ids in hex. What they have in common,
    /// such as their resource, is not included.
    #[must_use]
    pub fn spans(&self) -> Vec<Value> {
        self.items(|item| item.get("spanId").is_some() && item.get("parentSpanId").is_some())
    }

    /// Returns the metrics that arrived so far, in the same way.
    #[must_use]
    pub fn metrics(&self) -> Vec<Value> {
        self.items(|item| item.get("unit").is_some())
    }

    /// Returns the printed items of a kind, one a line. The last line may be incomplete.
    fn items(&self, are: impl Fn(&Value) -> bool) -> Vec<Value> {
        let stdout = self.process.stdout();
        let items = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        items.filter(are).collect()
    }
}
