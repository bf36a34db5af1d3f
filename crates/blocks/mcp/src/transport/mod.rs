//! How messages travel: pipes of a process, HTTP.

pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod stdio;
