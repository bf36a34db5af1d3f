//! The errors of a worker.

use std::{
    error::Error,
    io::{self, Write as _},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
};

use neuron_config::AgentFileError;
use neuron_local::StorageError;
use neuron_types::with_causes;

/// The error that keeps a worker from serving.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The agent file that is named does not exist.
    #[error(
        "there is no agent file {}: write it, or leave --config and NEURON_CONFIG out", .path.display()
    )]
    NoAgentFile {
        /// Where it should be.
        path: PathBuf,
    },
    /// The agent file was only found, and no person has trusted it.
    #[error(
        "{0}: review it, then name it with --config or NEURON_CONFIG, type `neuron trust` in its directory, or set \
         NEURON_TRUST=1"
    )]
    Untrusted(#[source] AgentFileError),
    /// The agent file cannot be used.
    #[error(transparent)]
    AgentFile(AgentFileError),
    /// The sessions of the agent file cannot be opened.
    #[error("sessions cannot be stored in {}: see `to` of [sessions] in the agent file", .to.display())]
    Sessions {
        /// The database.
        to: PathBuf,
        /// The cause.
        source: StorageError,
    },
    /// The working directory is gone.
    #[error("there is no working directory: change to one that exists")]
    WorkingDirectory(#[source] io::Error),
    /// A variable for traces and metrics is wrong.
    #[error(transparent)]
    Telemetry(Box<dyn Error + Send + Sync>),
    /// The operating system does not report signals.
    #[error("the process cannot listen for signals: try again")]
    Signals(#[source] io::Error),
    /// The operating system gives no threads.
    #[error("the threads of the process cannot be started: try again")]
    Threads(#[source] io::Error),
    /// An address is in use, or not this machine's.
    #[error("cannot listen at {address}: choose another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The engine's own settings cannot be used, or the engine cannot be reached.
    #[error(transparent)]
    Engine(Box<dyn Error + Send + Sync>),
    /// The worker served, and failed.
    #[error(transparent)]
    Broken(Box<dyn Error + Send + Sync>),
}

impl From<AgentFileError> for WorkerError {
    fn from(error: AgentFileError) -> Self {
        match error {
            AgentFileError::NoFile { path } => Self::NoAgentFile { path },
            AgentFileError::Untrusted { .. } => Self::Untrusted(error),
            other => Self::AgentFile(other),
        }
    }
}

impl WorkerError {
    /// Returns an error of the engine's settings or of the connection to it.
    pub fn engine(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Engine(error.into())
    }

    /// Returns an error of a worker that has served.
    pub fn broken(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Broken(error.into())
    }

    /// Reports the error on standard error, with every cause that adds something.
    pub(crate) fn report(&self) {
        let text = with_causes(self);
        // If standard error has no reader, there is no place to report that either.
        drop(writeln!(io::stderr(), "error: {text}"));
    }

    /// Returns 1 if the worker failed, 2 if it did not get to serve.
    pub(crate) fn exit(&self) -> ExitCode {
        match self {
            Self::Broken(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}
