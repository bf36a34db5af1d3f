//! What keeps the worker from serving.

use std::{error::Error, io, iter::successors, net::SocketAddr, path::PathBuf, process::ExitCode};

use neuron_restate::{ClientError, SettingsError};
use neuron_runtime::AgentFileError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(
        "there is no agent file {}: write it, or leave --config and NEURON_CONFIG out", .path.display()
    )]
    NoAgentFile { path: PathBuf },
    #[error(transparent)]
    AgentFile(#[from] AgentFileError),
    #[error("there is no working directory: change to one that exists")]
    WorkingDirectory(#[source] io::Error),
    #[error("the process cannot listen for signals: try again")]
    Signals(#[source] io::Error),
    #[error("the threads of the process cannot be started: try again")]
    Threads(#[source] io::Error),
    #[error("cannot listen at {address}: choose another address")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

impl StartError {
    /// Tells it on standard error, with every cause that says more.
    pub(crate) fn tell(&self) {
        let mut text = self.to_string();
        for cause in successors(self.source(), |cause: &&dyn Error| (*cause).source()) {
            let cause = cause.to_string();
            if !text.contains(&cause) {
                text.push_str(": ");
                text.push_str(&cause);
            }
        }
        tell(&format!("error: {text}"));
    }

    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(2)
    }
}

/// Writes a line to standard error; if nobody reads it, there is nobody to tell that either.
fn tell(line: &str) {
    use std::io::Write as _;

    drop(writeln!(io::stderr(), "{line}"));
}
