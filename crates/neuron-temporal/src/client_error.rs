//! What can go wrong between a client and Temporal.

use neuron_types::RunId;

/// What can go wrong between a client and Temporal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The settings for the connection cannot be used.
    #[error(
        "the settings for Temporal cannot be used: check TEMPORAL_ADDRESS, the other TEMPORAL_ variables and temporal.toml"
    )]
    Settings {
        /// What is wrong with them.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no server, or it does not let this client in.
    #[error("cannot reach Temporal at {address}: start it, or set TEMPORAL_ADDRESS")]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is a run of this id already.
    #[error("there is a run {run_id} already: choose another id")]
    RunExists {
        /// The id.
        run_id: RunId,
    },
    /// There is no such run, or it is over and takes nothing more.
    #[error("there is no run {run_id} that takes this: it is over, or Temporal never had it")]
    NotThere {
        /// The id.
        run_id: RunId,
    },
    /// No worker answers for the run. What only has to be delivered can be sent as a signal, which waits for
    /// a worker.
    #[error(
        "no worker answers for run {run_id}: start one, for example with `neuron-temporal-worker`"
    )]
    NoWorker {
        /// The run.
        run_id: RunId,
    },
    /// Temporal takes no payload of this size.
    #[error(
        "{what} has {bytes} bytes and Temporal takes {most}: make it shorter, or let the agent read it from a file"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size as JSON.
        bytes: usize,
        /// The largest size.
        most: usize,
    },
    /// The run refuses what it is asked.
    #[error("{reason}")]
    Refused {
        /// One sentence for whoever asked.
        reason: String,
    },
    /// The run's workflow ended without an output.
    #[error(
        "run {run_id} ended without an output ({how}): look at it with `temporal workflow show --workflow-id {run_id}`"
    )]
    Ended {
        /// The run.
        run_id: RunId,
        /// How it ended.
        how: String,
    },
    /// Anything else that the server or the connection answered.
    #[error("Temporal failed")]
    Temporal {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ClientError {
    pub(crate) fn temporal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Temporal {
            source: source.into(),
        }
    }
}
