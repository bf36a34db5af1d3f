//! The settings of a server: where it listens and where it keeps its data.

use std::path::Path;

use crate::{Addresses, Engine};

/// The arguments and variables of a server's program. They are the same in a container, which shares the
/// network of its host.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) addresses: Addresses,
}

impl Settings {
    /// Returns settings for a server on these ports that keeps its data in this folder.
    pub(crate) fn of(engine: Engine, data: &Path, ports: [u16; 3]) -> Self {
        match engine {
            Engine::Temporal => temporal(data, ports),
            Engine::Restate => restate(data, ports),
        }
    }

    pub(crate) fn with(mut self, variables: &[(String, String)]) -> Self {
        self.variables.extend_from_slice(variables);
        self
    }
}

fn temporal(data: &Path, [frontend, http, metrics]: [u16; 3]) -> Settings {
    let file = text(&data.join("temporal.db"));
    let arguments = [
        "server",
        "start-dev",
        "--headless",
        "--log-level",
        "error",
        "--port",
        &frontend.to_string(),
        "--http-port",
        &http.to_string(),
        "--metrics-port",
        &metrics.to_string(),
        "--db-filename",
        &file,
        // A killed process loses nothing by this: only a power cut would.
        "--sqlite-pragma",
        "synchronous=off",
        "--sqlite-pragma",
        "journal_mode=wal",
        "--dynamic-config-value",
        "history.transferProcessorMaxPollRPS=100000",
        // By default a run's next history begins a second after the one before at the earliest.
        "--dynamic-config-value",
        "history.workflowIdReuseMinimalInterval=\"0s\"",
    ];
    Settings {
        arguments: arguments.map(ToOwned::to_owned).to_vec(),
        variables: Vec::new(),
        addresses: Addresses {
            main: format!("127.0.0.1:{frontend}"),
            http: format!("http://127.0.0.1:{http}"),
        },
    }
}

fn restate(data: &Path, [ingress, admin, node]: [u16; 3]) -> Settings {
    let variables = [
        (
            "RESTATE_INGRESS__BIND_ADDRESS",
            format!("127.0.0.1:{ingress}"),
        ),
        ("RESTATE_ADMIN__BIND_ADDRESS", format!("127.0.0.1:{admin}")),
        ("RESTATE_BIND_ADDRESS", format!("127.0.0.1:{node}")),
        (
            "RESTATE_ADVERTISED_ADDRESS",
            format!("http://127.0.0.1:{node}"),
        ),
        ("RESTATE_LOG_FILTER", "warn".to_owned()),
        ("RESTATE_DISABLE_TELEMETRY", "true".to_owned()),
        // With RUST_BACKTRACE in the environment the server unwinds its stack for each of its own errors, which takes a
        // processor for half a minute when two hundred runs start at once.
        ("RUST_LIB_BACKTRACE", "0".to_owned()),
    ];
    Settings {
        arguments: vec![
            "--base-dir".to_owned(),
            text(&data.join("restate")),
            "--no-logo".to_owned(),
        ],
        variables: variables
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        addresses: Addresses {
            main: format!("http://127.0.0.1:{ingress}"),
            http: format!("http://127.0.0.1:{admin}"),
        },
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
