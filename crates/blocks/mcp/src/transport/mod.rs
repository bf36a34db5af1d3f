//! How messages travel: pipes of a process, HTTP.

pub(crate) mod awaited;
mod event_size;
pub(crate) mod http;
pub(crate) mod incoming;
mod posting;
pub(crate) mod process;
pub(crate) mod stdio;

/// How many messages may come in a row that answer nothing.
pub(crate) const MAX_UNASKED: usize = 100_000;
