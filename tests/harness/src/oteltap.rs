//! An independent receiver of OTLP over HTTP that shows what it was sent: `oteltap`.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Running, eventually, free_address, python};

/// A receiver on a port of its own. Dropping it ends it.
#[derive(Debug)]
pub struct Oteltap {
    address: String,
    // In this order: the process ends before its folder goes.
    process: Running,
    _folder: TempDir,
}

impl Oteltap {
    /// Starts a receiver.
    ///
    /// # Panics
    ///
    /// If there is no such program or it does not start.
    #[must_use]
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let (_, port) = address.split_once(':').unwrap();
        let mut command = Command::new(python());
        command
            // Lines are not kept back until there are many.
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

    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans that came so far, as OTLP writes them in JSON, with ids in hex. What they have in common, such as their
    /// resource, is not among it.
    #[must_use]
    pub fn spans(&self) -> Vec<Value> {
        self.items(|item| item.get("spanId").is_some() && item.get("parentSpanId").is_some())
    }

    /// The metrics that came so far, in the same way.
    #[must_use]
    pub fn metrics(&self) -> Vec<Value> {
        self.items(|item| item.get("unit").is_some())
    }

    /// It prints one item a line. The last line may be half there.
    fn items(&self, are: impl Fn(&Value) -> bool) -> Vec<Value> {
        let stdout = self.process.stdout();
        let items = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        items.filter(are).collect()
    }
}
