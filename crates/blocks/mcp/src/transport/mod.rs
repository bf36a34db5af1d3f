//! How messages travel: pipes of a process, HTTP.

pub(crate) mod awaited;
pub(crate) mod http;
pub(crate) mod incoming;
pub(crate) mod process;
pub(crate) mod stdio;

/// How many messages may come in a row that answer nothing.
pub(crate) const MAX_UNASKED: usize = 100_000;
