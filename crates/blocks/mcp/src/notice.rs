//! What is reported while servers start.

use std::{fmt, sync::Arc, time::Duration};

use crate::McpError;

/// What is reported while MCP servers start. Its text is for people.
#[derive(Debug)]
#[non_exhaustive]
pub enum McpNotice<'a> {
    /// A server has not started after about two seconds: it is waited for.
    Waiting {
        /// The server.
        server: &'a str,
        /// How long its start may take.
        most: Duration,
    },
    /// A server that is not [required](method@crate::McpServerSpec::required) did not start: the others do without it.
    LeftOut {
        /// Why. It names the server.
        error: &'a McpError,
    },
}

/// The callback that is notified of what is reported while MCP servers start.
pub type McpNotices = Arc<dyn Fn(&McpNotice<'_>) + Send + Sync>;

impl fmt::Display for McpNotice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { server, most } => {
                write!(
                    f,
                    "waiting for the MCP server {server} to start, for at most {most:?}"
                )
            }
            Self::LeftOut { error } => write!(f, "{error}: its tools are left out"),
        }
    }
}
