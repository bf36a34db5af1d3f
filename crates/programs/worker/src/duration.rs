//! Spans of time on a command line.

use std::time::Duration;

/// Reads a span of time as `25s`, `1m 30s` or `500ms`.
///
/// # Errors
///
/// The error in the text.
pub fn duration(text: &str) -> Result<Duration, humantime::DurationError> {
    humantime::parse_duration(text)
}
