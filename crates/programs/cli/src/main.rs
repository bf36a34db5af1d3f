#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use neuron_worker::{LogFormat, Telling};

mod advice;
mod args;
mod commands;
mod decisions;
mod dev;
mod engine;
mod error;
mod exit;
mod home;
mod questions;
#[cfg(feature = "temporal")]
mod replay;
mod runs;
mod session;
mod terminal;
mod whoami;

use crate::{args::Cli, error::CliError, exit::Exit, terminal::output::note};

/// What `-v` logs if `RUST_LOG` does not set it. Other crates' debug logs are about connections and bytes.
const VERBOSE: &str = "warn,neuron=debug";

fn main() -> ExitCode {
    // This comes first: this program may have been started again as a sandbox's helper.
    neuron_worker::dispatch();
    #[cfg(any(feature = "temporal", feature = "restate"))]
    if let Some(exit) = commands::engine_worker::serve() {
        return exit;
    }
    let cli: Cli = neuron_worker::parse();
    let verbose = cli.global.verbose;
    let telling = Telling::begin(verbose.then_some(VERBOSE), LogFormat::Text);
    if let Err(error) = &telling {
        note(&format!("no traces and metrics: {error}"));
    }
    let exit = run(cli).unwrap_or_else(|error| {
        if !error.is_broken_pipe() {
            error.lines(verbose).iter().for_each(|line| note(line));
        }
        error.exit()
    });
    if let Ok(telling) = telling {
        telling.end();
    }
    exit.into()
}

fn run(cli: Cli) -> Result<Exit, CliError> {
    // The run itself is executed in this thread. Tools and the journal do blocking work on threads of their own; one
    // more thread makes sure that a signal is noticed whatever the others do.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(CliError::Threads)?;
    let result = runtime.block_on(commands::dispatch(cli));
    // Blocking work of an interrupted run is not awaited: the journal expects that.
    runtime.shutdown_background();
    result
}
