//! The errors of a worker.

use std::io;

use neuron_engine::RunClientError;
use tokio::task::JoinError;

use crate::AgentError;

/// Why a worker does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerFailure {
    /// The worker's agents cannot be served together.
    #[error(transparent)]
    Agents(#[from] AgentError),
    /// The journal cannot be opened or read.
    #[cfg(feature = "local")]
    #[error(transparent)]
    Journal(#[from] neuron_local::JournalError),
    /// The engine cannot be reached, or rejects the worker.
    #[error(transparent)]
    Client(#[from] RunClientError),
    /// The worker on Temporal could not be made, or ended by itself.
    #[cfg(feature = "temporal")]
    #[error(transparent)]
    Temporal(#[from] crate::temporal::WorkerFailure),
    /// The worker on Restate could not be made, or ended by itself.
    #[cfg(feature = "restate")]
    #[error(transparent)]
    Restate(#[from] crate::restate::WorkerFailure),
    /// The worker cannot listen where it is to answer about its health.
    #[error("the worker cannot answer about its health at {address}")]
    Health {
        /// The address.
        address: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The worker on Temporal cannot be measured.
    #[cfg(feature = "temporal")]
    #[error(transparent)]
    Metrics(#[from] neuron_temporal::NoMetrics),
    /// The system does not report signals.
    #[error("the system reports no signals")]
    Signals(#[source] io::Error),
    /// A second signal came while the worker was stopping: calls in flight are left.
    #[error("a second signal came while steps in flight were ending")]
    Interrupted,
    /// The worker's task is gone: it panicked.
    #[error("the worker's task is gone")]
    Task(#[from] JoinError),
}
