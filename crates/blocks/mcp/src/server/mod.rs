//! The tools of a registry as an MCP server.

pub(crate) mod http;
pub(crate) mod mcp_server;
