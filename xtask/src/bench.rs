//! `cargo xtask bench`: the benchmarks, built as a user would run them.

use std::ffi::OsString;

use crate::error::Error;
use crate::{command, workspace};

/// Builds the benchmarks in release mode and runs one: `cargo xtask bench local`, `providers`, `tools`,
/// `sandbox`, `context`, `temporal` or `restate`.
///
/// A run prints one JSON line for each figure on standard output. `local` is the loop and the journal,
/// `providers` the decoding of streams, `tools` the layers of middleware, `sandbox` what a
/// sandbox adds to a command, and `context` compaction.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The benchmark and its own arguments, which are passed on unchanged.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    benchmark: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let is_of_engine = args
        .benchmark
        .first()
        .is_some_and(|name| name == "temporal" || name == "restate");
    // The engines' SDKs take long to build.
    let features: &[&str] = if is_of_engine {
        &[]
    } else {
        &["--no-default-features"]
    };
    let mut build = workspace::cargo();
    build
        .args(["build", "--release", "--package", "neuron-bench"])
        .args(features);
    if args.benchmark.first().is_some_and(|name| name == "local") {
        // The benchmark starts the command.
        build.args(["--package", "neuron-cli"]);
    }
    command::show(&mut build)?;
    let mut bench = workspace::cargo();
    bench
        .args(["run", "--release", "--package", "neuron-bench"])
        .args(features)
        .arg("--")
        .args(&args.benchmark);
    command::show(&mut bench)
}
