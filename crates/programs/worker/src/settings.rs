//! The part of the command line that every worker has.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use crate::duration;

/// What the command line of every worker says.
#[derive(Debug, Clone, Default, Args)]
#[non_exhaustive]
pub struct Settings {
    /// The agent file [default: neuron.toml if it exists]
    #[arg(long, value_name = "FILE", env = "NEURON_CONFIG")]
    pub config: Option<PathBuf>,
    /// Take whole definitions of agents from callers, and not only names: for development
    #[arg(long)]
    pub accept_definitions: bool,
    /// Serve /healthz, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// How long steps in flight get to end when the worker is to stop; it must be killed later than that [default: 25s]
    #[arg(long, value_name = "DURATION", env = "NEURON_GRACE", value_parser = duration)]
    pub grace: Option<Duration>,
    /// How the log on standard error is written; RUST_LOG filters it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}
