//! The log, on standard error.

use std::{
    env,
    io::{self, Write},
};

use neuron_types::shown_json;
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
        LogFormat::Json => log.json().with_writer(|| ShownJson).init(),
    }
}

/// Writes lines of JSON to standard error without what a terminal would obey. Each comes in one piece.
struct ShownJson;

impl Write for ShownJson {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let shown = shown_json(String::from_utf8_lossy(line).into_owned());
        io::stderr().lock().write_all(shown.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
