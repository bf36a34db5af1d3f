//! The log, on standard error. Silent unless it is asked for.

use std::{env, io};

use tracing_subscriber::EnvFilter;

/// What `-v` logs where `RUST_LOG` says nothing. Other crates' debug logs are about connections and bytes.
const VERBOSE: &str = "warn,neuron=debug";

/// Starts the log as `RUST_LOG` says, or with `verbose`.
pub(crate) fn start(verbose: bool) {
    let directives = match env::var("RUST_LOG") {
        Ok(directives) if !directives.trim().is_empty() => directives,
        _ if verbose => VERBOSE.to_owned(),
        _ => return,
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(directives))
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
}
