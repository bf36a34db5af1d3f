//! The connection to Temporal, and what to do if it fails.

use std::time::Duration;

use neuron_engine::RunClientError;
use neuron_temporal::AgentClient;
use neuron_types::with_causes;
use tokio::time::Instant;

use crate::WorkerError;

/// How long one try may take.
const TRY: Duration = Duration::from_secs(10);

/// The pause before the next try.
const BETWEEN: Duration = Duration::from_secs(1);

/// How often it is reported that the server is away.
const SAID: Duration = Duration::from_secs(30);

/// The reason why Temporal is not reached, and what to do about it.
#[derive(Debug, thiserror::Error)]
enum NotReached {
    #[error("{0}: start it, or set TEMPORAL_ADDRESS")]
    Away(#[source] RunClientError),
    #[error("{0}: check TEMPORAL_ADDRESS, the other TEMPORAL_ variables and temporal.toml")]
    Settings(#[source] RunClientError),
    #[error("Temporal does not answer: check TEMPORAL_ADDRESS, or start it")]
    Silent,
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

impl NotReached {
    /// Returns whether the error may pass.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Away(_) | Self::Silent)
    }
}

/// Connects as Temporal's own tools do. A server that is away is awaited: forever, or for as long as is set. The
/// worker's reports are retried for `patience` when the server is away later.
///
/// # Errors
///
/// Settings that cannot be used, a server that rejects the connection, or one that does not answer in time.
pub(crate) async fn connect(
    wait: Option<Duration>,
    patience: Duration,
) -> Result<AgentClient, WorkerError> {
    let begun = Instant::now();
    let mut said: Option<Instant> = None;
    loop {
        let trying = tokio::time::timeout(TRY, AgentClient::connect_worker(patience));
        let error = match trying.await {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(error)) => NotReached::from(error),
            Err(_) => NotReached::Silent,
        };
        let is_over = wait.is_some_and(|wait| begun.elapsed() >= wait);
        if is_over || !error.may_pass() {
            return Err(WorkerError::engine(error));
        }
        if said.is_none_or(|said| said.elapsed() >= SAID) {
            said = Some(Instant::now());
            tracing::warn!("waiting for Temporal: {}", with_causes(&error));
        }
        tokio::time::sleep(BETWEEN).await;
    }
}
