//! The log, on standard error.

use std::{env, io};

use tracing_subscriber::EnvFilter;

use crate::LogFormat;

/// What is logged where `RUST_LOG` says nothing. It holds for every target that starts with `neuron`.
const DEFAULT: &str = "warn,neuron=info";

/// Starts the log as `RUST_LOG` says.
pub(crate) fn start(format: LogFormat) {
    let directives = env::var("RUST_LOG").unwrap_or_default();
    let directives = if directives.trim().is_empty() {
        DEFAULT
    } else {
        &directives
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(directives))
        .with_writer(io::stderr)
        .with_ansi(false);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}
