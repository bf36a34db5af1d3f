#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::Parser;
use neuron_worker::{dispatch, parse, temporal};

/// Serves the agents of an agent file on Temporal.
#[derive(Debug, Parser)]
#[command(name = "neuron-temporal-worker", version)]
struct Program {
    #[command(flatten)]
    args: temporal::Args,
}

fn main() -> ExitCode {
    // This comes first: this program may have been started again as a sandbox's helper.
    dispatch();
    let Program { args } = parse();
    temporal::serve(args)
}
