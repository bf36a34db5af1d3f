//! `cargo xtask bench`: the benchmarks, built as a user would run them.

use std::ffi::OsString;

use crate::error::Error;
use crate::{command, workspace};

/// Builds the benchmarks in release mode and runs one: `cargo xtask bench local`.
///
/// A run prints one JSON line on standard output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The benchmark and its own arguments, given on as they are.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    benchmark: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut build = workspace::cargo();
    build.args([
        "build",
        "--release",
        "--package",
        "neuron-cli",
        "--package",
        "neuron-bench",
    ]);
    command::show(&mut build)?;
    let mut bench = workspace::cargo();
    bench
        .args(["run", "--release", "--package", "neuron-bench", "--"])
        .args(&args.benchmark);
    command::show(&mut bench)
}
