//! Answers that come in pieces.

pub(crate) mod assemble;
pub(crate) mod event;
pub(crate) mod event_stream;
pub(crate) mod json_lines;
pub(crate) mod ndjson;
pub(crate) mod no_answer;
pub(crate) mod sse;
