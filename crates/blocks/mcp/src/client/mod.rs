//! Connections to MCP servers, and what they offer.

pub(crate) mod connection;
pub(crate) mod discovery;
pub(crate) mod mcp_client;
pub(crate) mod no_answer;
pub(crate) mod opening;
pub(crate) mod resource;
pub(crate) mod servers;
pub(crate) mod tool;
