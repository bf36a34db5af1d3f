//! Connections to MCP servers, and what they offer.

pub(crate) mod cache;
pub(crate) mod calling;
pub(crate) mod connection;
pub(crate) mod discovery;
pub(crate) mod handshake;
pub(crate) mod listed;
pub(crate) mod mcp_client;
pub(crate) mod no_answer;
pub(crate) mod opening;
pub(crate) mod page;
pub(crate) mod resource;
pub(crate) mod rounds;
pub(crate) mod servers;
pub(crate) mod servers_builder;
pub(crate) mod told;
pub(crate) mod tool;
pub(crate) mod watch;
