//! What can go wrong with `ssh-agent`.

use std::{io, path::PathBuf};

/// The agent cannot be asked, or did not answer as an agent does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Nothing answers at the socket.
    #[error("there is no ssh-agent at {}: {source}", .socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to ssh-agent broke: {0}")]
    Io(#[from] io::Error),
    /// The agent did not answer in time. It may have waited for a person to confirm or to touch a key.
    #[error("ssh-agent did not answer in time: was the question confirmed, or the key touched?")]
    Timeout,
    /// The agent rejected the request: it is locked, a person declined, or a key was not touched.
    #[error(
        "ssh-agent rejected the request: it is locked, or the question was not confirmed or the key not touched"
    )]
    Refused,
    /// What it sent is no answer.
    #[error("ssh-agent sent something that is no answer")]
    Malformed,
}
