//! Reaching Temporal, and what to do where that fails.

use neuron_engine::RunClientError;
use neuron_temporal::AgentClient;
use neuron_worker::WorkerError;

/// Why Temporal is not reached, and what to do about it.
#[derive(Debug, thiserror::Error)]
enum NotReached {
    #[error("{0}: start it, or set TEMPORAL_ADDRESS")]
    Away(#[source] RunClientError),
    #[error("{0}: check TEMPORAL_ADDRESS, the other TEMPORAL_ variables and temporal.toml")]
    Settings(#[source] RunClientError),
    #[error(transparent)]
    Other(RunClientError),
}

impl From<RunClientError> for NotReached {
    fn from(error: RunClientError) -> Self {
        match error {
            RunClientError::Unreachable { .. } => Self::Away(error),
            RunClientError::Settings { .. } => Self::Settings(error),
            _ => Self::Other(error),
        }
    }
}

/// Connects as Temporal's own tools do.
pub(crate) async fn connect() -> Result<AgentClient, WorkerError> {
    let client = AgentClient::connect().await;
    client.map_err(|error| WorkerError::engine(NotReached::from(error)))
}
