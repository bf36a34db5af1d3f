//! One attempt at a request, and what its answer says.

pub(crate) mod api_key;
pub(crate) mod failure;
pub(crate) mod http_client;
pub(crate) mod reply;
pub(crate) mod retry;
pub(crate) mod settings;
pub(crate) mod tag_headers;
pub(crate) mod trace_headers;
pub(crate) mod transport;
