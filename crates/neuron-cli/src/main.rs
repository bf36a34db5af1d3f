#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::Parser as _;

mod args;
mod asker;
mod commands;
mod describe;
mod dev;
mod elicitation;
mod engine;
mod error;
mod execution;
mod exit;
mod follow;
mod form_field;
mod input;
mod interruption;
mod line_reader;
mod live;
mod logging;
mod order;
mod outcome;
mod output;
mod person;
mod progress;
mod question;
#[cfg(feature = "temporal")]
mod replay;
mod session;
mod shown;
mod streamed;
mod table;
mod tickets;

use crate::{args::Cli, error::CliError, exit::Exit};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let verbose = cli.global.verbose;
    logging::start(verbose);
    let exit = run(cli).unwrap_or_else(|error| {
        if !error.is_broken_pipe() {
            error.tell(verbose);
        }
        error.exit()
    });
    exit.into()
}

fn run(cli: Cli) -> Result<Exit, CliError> {
    // The run itself goes on in this thread. Tools and the journal do blocking work on threads of their
    // own; one more thread sees to it that a signal is heard whatever the others do.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(CliError::Threads)?;
    let result = runtime.block_on(commands::dispatch(cli));
    // Blocking work of a run that was interrupted is not waited for: the journal expects that.
    runtime.shutdown_background();
    result
}
