//! How the agent file names MCP servers and their tools.

/// What stands before a server's name in `tools`, `ask` and `deny`.
const PREFIX: &str = "mcp:";
/// What stands between a server's name and a tool's.
pub(crate) const SEPARATOR: &str = "__";

/// The server that `mcp:NAME` means.
pub(crate) fn server_name(entry: &str) -> Option<&str> {
    entry.strip_prefix(PREFIX)
}

/// The server of a tool, by the tool's name here.
pub(crate) fn server_of(tool: &str) -> Option<&str> {
    tool.split_once(SEPARATOR).map(|(server, _)| server)
}
