#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::Parser;
use neuron_worker::{dispatch, parse, restate};

/// Serves the agents of an agent file on Restate.
#[derive(Debug, Parser)]
#[command(name = "neuron-restate-worker", version)]
struct Program {
    #[command(flatten)]
    args: restate::Args,
}

fn main() -> ExitCode {
    // This comes first: this program may have been started again as a sandbox's helper.
    dispatch();
    let Program { args } = parse();
    restate::serve(args)
}
