//! `cargo xtask soak`: the checks that take too long for a test, with the programs as a user would build them.

use std::ffi::OsString;

use crate::error::Error;
use crate::{command, engines, test, workspace};

/// The fetched programs that soaks start, and the variables with their paths.
const FETCHED: [(&str, &str); 2] = [
    ("temporal", "NEURON_TEMPORAL"),
    ("restate-server", "NEURON_RESTATE"),
];

/// Builds the command and the workers in release mode and runs a soak with them: `cargo xtask soak outage`,
/// `parked`, `chaos` or `trees`.
///
/// A soak prints one JSON line for each engine on standard output, and its progress on standard error. It fails
/// if a promise is broken. `outage` takes the model server away from 50 runs for three minutes, `parked` starts
/// 10,000 runs that wait for people, `chaos` makes random faults for an hour, and `trees` kills, cancels and ends runs that
/// start runs. `--size N`, `--seed S` and `--engine E` change the soak. The tests run short versions of the same soaks.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The soak and its own arguments, which are passed on unchanged.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    soak: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let packages = [
        "--release",
        "--package",
        "neuron-cli",
        "--package",
        "neuron-temporal-worker",
        "--package",
        "neuron-restate-worker",
    ];
    let mut programs = test::build_with(&packages)?;
    for (name, variable) in FETCHED {
        programs.push((variable, engines::ensure(name)?));
    }
    let mut soak = workspace::cargo();
    soak.args(["run", "--release", "--package", "neuron-soak", "--"])
        .args(&args.soak)
        .envs(programs);
    command::show(&mut soak)
}
