//! The log, on standard error.

use std::{env, io};

use tracing_subscriber::EnvFilter;

use crate::LogFormat;

/// Starts the log as `RUST_LOG` says, or as `default` does where that says nothing. Without either nothing is logged.
/// A filter for `neuron` holds for every target that begins so.
pub fn start_log(default: Option<&str>, format: LogFormat) {
    let set = env::var("RUST_LOG").ok();
    let set = set.filter(|directives| !directives.trim().is_empty());
    let Some(directives) = set.as_deref().or(default) else {
        return;
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
