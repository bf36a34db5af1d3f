//! What can go wrong with an MCP server.

use std::{net::SocketAddr, time::Duration};

use neuron_types::ToolError;

/// An MCP server, or a client of ours, could not be served as it wished. Texts name the server and never hold
/// what it was given to keep secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The server could not be started or reached. No request was made.
    #[error("the MCP server {server} cannot be reached: {reason}")]
    Connection {
        /// The server.
        server: String,
        /// Why, for people.
        reason: String,
    },
    /// The server was reached and the protocol could not be begun.
    #[error("the MCP server {server} did not initialise: {reason}")]
    Initialization {
        /// The server.
        server: String,
        /// Why, for people.
        reason: String,
    },
    /// The server answered with an error.
    #[error("the MCP server {server} rejected the request: {message}")]
    Refused {
        /// The server.
        server: String,
        /// The JSON-RPC code, such as -32602 for arguments that do not fit.
        code: i32,
        /// What the server said.
        message: String,
    },
    /// The connection was lost while an answer was awaited: the request may or may not have been carried out.
    #[error("the MCP server {server} was lost before it answered: {reason}")]
    Lost {
        /// The server.
        server: String,
        /// Why, for people.
        reason: String,
    },
    /// The server said what MCP does not allow, or more than this side takes.
    #[error("the MCP server {server} cannot be understood: {reason}")]
    Protocol {
        /// The server.
        server: String,
        /// What it did.
        reason: String,
    },
    /// No answer in time.
    #[error("the MCP server {server} did not answer within {after:?}")]
    Timeout {
        /// The server.
        server: String,
        /// How long was waited.
        after: Duration,
    },
    /// The request was cancelled on this side.
    #[error("cancelled")]
    Cancelled,
    /// What the server asked for is not offered on this side.
    #[error("{0} is not offered here")]
    NotOffered(&'static str),
    /// This side could not fulfil what the server asked for.
    #[error("{0}")]
    Handler(String),
    /// Our own server could not be served.
    #[error("MCP cannot be served{}: {source}", .address.map(|at| format!(" at {at}")).unwrap_or_default())]
    Serve {
        /// Where, over HTTP.
        address: Option<SocketAddr>,
        /// Why.
        source: std::io::Error,
    },
    /// An address that others can reach was to be served without a token.
    #[error(
        "{address} can be reached from other machines: serve a loopback address such as 127.0.0.1, or set a token"
    )]
    Open {
        /// The address.
        address: SocketAddr,
    },
}

/// JSON-RPC's code for arguments that do not fit.
const INVALID_PARAMS: i32 = -32602;

impl McpError {
    /// Returns whether the server was never asked, so that asking again cannot do anything twice.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Connection { .. } | Self::Initialization { .. })
    }
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        match error {
            McpError::Connection { .. } | McpError::Initialization { .. } => Self::Unavailable {
                message: error.to_string(),
                retry_after: None,
                source: None,
            },
            // What was asked may have been done: a write has an unknown outcome then, and has not failed.
            McpError::Lost { .. } | McpError::Protocol { .. } => {
                Self::AnswerLost(error.to_string())
            }
            McpError::Timeout { after, .. } => Self::Timeout(after),
            McpError::Cancelled => Self::Cancelled,
            McpError::Refused {
                code: INVALID_PARAMS,
                message,
                ..
            } => Self::ModelRetry(message),
            other => Self::ExecutionFailed(Box::new(other)),
        }
    }
}
