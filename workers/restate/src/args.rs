//! What the command line says.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Parser, ValueEnum};
use neuron_restate::DEFAULT_PREFIX;

/// Serves the agents of an agent file on Restate.
#[derive(Debug, Parser)]
#[command(
    name = "neuron-restate-worker",
    version,
    max_term_width = 100,
    after_help = "Restate is addressed as its own tools do: RESTATE_ADMIN_URL, RESTATE_INGRESS_URL, \
                  RESTATE_AUTH_TOKEN. With RESTATE_IDENTITY_KEYS (public keys, separated by commas) only \
                  requests that one of them signed are taken.\n\
                  SIGTERM and Ctrl-C let the steps in flight end; a second one ends at once.\n\
                  Exit codes: 0 stopped, 2 usage or configuration."
)]
pub(crate) struct Args {
    /// The agent file [default: neuron.toml if it exists]
    #[arg(long, value_name = "FILE", env = "NEURON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Where Restate's requests are taken
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9080")]
    pub(crate) listen: SocketAddr,
    /// Tell Restate that this worker is here
    #[arg(long)]
    pub(crate) register: bool,
    /// What Restate reaches this worker at [default: http://ADDR of --listen]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The prefix of the services' names
    #[arg(long, value_name = "NAME", env = "NEURON_TASK_QUEUE", default_value = DEFAULT_PREFIX)]
    pub(crate) task_queue: String,
    /// Serve /healthz, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// How the log on standard error is written; RUST_LOG filters it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
    /// The public keys of the servers whose requests are taken
    #[arg(
        long,
        hide = true,
        env = "RESTATE_IDENTITY_KEYS",
        hide_env_values = true
    )]
    identity_keys: Option<String>,
}

impl Args {
    pub(crate) fn identity_keys(&self) -> Vec<String> {
        let keys = self.identity_keys.iter().flat_map(|keys| keys.split(','));
        let keys = keys.map(|key| key.trim().to_owned());
        keys.filter(|key| !key.is_empty()).collect()
    }
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}
