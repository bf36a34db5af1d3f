//! The names of MCP servers and their tools in the agent file.

/// The prefix of a server's name in `tools`, `ask` and `deny`.
const PREFIX: &str = "mcp:";
/// The separator between a server's name and a tool's.
pub(crate) const SEPARATOR: &str = "__";

/// Returns the server that `mcp:NAME` means.
pub(crate) fn server_name(entry: &str) -> Option<&str> {
    entry.strip_prefix(PREFIX)
}

/// Returns the server of a tool, from the tool's name in the agent file.
pub(crate) fn server_of(tool: &str) -> Option<&str> {
    tool.split_once(SEPARATOR).map(|(server, _)| server)
}
