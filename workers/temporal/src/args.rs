//! What the command line says.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Parser, ValueEnum};
use neuron_temporal::DEFAULT_TASK_QUEUE;

/// Serves the agents of an agent file on Temporal.
#[derive(Debug, Parser)]
#[command(
    name = "neuron-temporal-worker",
    version,
    max_term_width = 100,
    after_help = "Temporal is addressed as its own tools do: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, \
                  TEMPORAL_API_KEY, TEMPORAL_TLS_* and temporal.toml.\n\
                  SIGTERM and Ctrl-C let the steps in flight end; a second one ends at once.\n\
                  Exit codes: 0 stopped, 1 the worker broke, 2 usage, configuration, or Temporal cannot be \
                  reached."
)]
pub(crate) struct Args {
    /// The agent file [default: neuron.toml if it exists]
    #[arg(long, value_name = "FILE", env = "NEURON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// The Temporal task queue
    #[arg(long, value_name = "NAME", env = "NEURON_TASK_QUEUE", default_value = DEFAULT_TASK_QUEUE)]
    pub(crate) task_queue: String,
    /// Serve /healthz, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// How the log on standard error is written; RUST_LOG filters it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}
