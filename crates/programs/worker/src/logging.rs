//! The log, on standard error.

use std::{
    env,
    io::{self, Write},
};

use neuron_types::shown_json;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::LogFormat;

/// Returns the layer that logs with the filter `RUST_LOG`, or with `default` if that is not set; `None` without either.
pub(crate) fn layer(
    default: Option<&str>,
    format: LogFormat,
) -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    let set = env::var("RUST_LOG").ok();
    let set = set.filter(|directives| !directives.trim().is_empty());
    let filter = EnvFilter::new(set.as_deref().or(default)?);
    let log = fmt::layer().with_ansi(false);
    Some(match format {
        LogFormat::Text => log.with_writer(io::stderr).with_filter(filter).boxed(),
        LogFormat::Json => {
            let log = log.json().with_writer(|| ShownJson);
            log.with_filter(filter).boxed()
        }
    })
}

/// Writes lines of JSON to standard error without control characters. Each line is written in one piece.
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
