//! What the command line says.

use std::time::Duration;

use clap::Args as ClapArgs;
use neuron_temporal::{DEFAULT_TASK_QUEUE, HISTORY_LIMIT_BYTES, HISTORY_LIMIT_EVENTS};

use super::{tuning::Tuning, versions::Versions};
use crate::{Settings, duration};

/// Serves the agents of an agent file on Temporal.
#[derive(Debug, ClapArgs)]
#[command(
    max_term_width = 100,
    after_help = "The address of Temporal is read as its own tools read it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, \
                  TEMPORAL_API_KEY, TEMPORAL_TLS_* and temporal.toml. The file that TEMPORAL_API_KEY_FILE names is \
                  read again every minute.\n\
                  SIGTERM and Ctrl-C let the steps in flight end; a second one ends at once.\n\
                  Exit codes: 0 stopped, 1 the worker broke, 2 usage, configuration, or Temporal cannot be \
                  reached in the time of --wait-for-server."
)]
#[non_exhaustive]
pub struct Args {
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// The Temporal task queue
    #[arg(long, value_name = "NAME", env = "NEURON_TASK_QUEUE", default_value = DEFAULT_TASK_QUEUE)]
    pub(crate) task_queue: String,
    /// How long a server that is not there is waited for at the start [default: for ever]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait_for_server: Option<Duration>,
    /// The most events of one segment of a run; then it continues as new [default: as the server suggests]
    #[arg(long, value_name = "N")]
    pub(crate) segment_events: Option<usize>,
    /// About the most bytes of one segment of a run [default: as the server suggests]
    #[arg(long, value_name = "N")]
    pub(crate) segment_bytes: Option<usize>,
    /// How many events the server takes of one history
    #[arg(long, value_name = "N", default_value_t = HISTORY_LIMIT_EVENTS)]
    pub(crate) history_limit_events: usize,
    /// How many bytes the server takes of one history
    #[arg(long, value_name = "N", default_value_t = HISTORY_LIMIT_BYTES)]
    pub(crate) history_limit_bytes: usize,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
    #[command(flatten)]
    pub(crate) versions: Versions,
}
