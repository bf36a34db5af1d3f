//! `cargo xtask ci`: what a change must pass.

use std::time::Instant;

use crate::error::Error;
use crate::{
    adapters, changelog, circles, clock, command, docs, replayed, subjects, test, tools, wasm,
    words, workspace,
};

/// Checks the format, the lints, the tests and the documentation.
///
/// Every step runs, so that one run shows everything that is wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave the tests out.
    #[arg(long)]
    no_test: bool,

    /// Run this step only. Can be given several times.
    #[arg(long, value_name = "STEP", value_parser = STEPS.map(|(name, _)| name))]
    only: Vec<String>,
}

type Step = fn() -> Result<(), Error>;

/// The step that `--no-test` leaves out.
const TEST: &str = "test";

/// A step that only runs when it is asked for: it compiles most crates several times, which takes long.
const FEATURES: &str = "features";

const STEPS: [(&str, Step); 18] = [
    ("replayed", replayed),
    ("adapters", adapters::check),
    ("changelog", changelog),
    ("circles", circles::check),
    ("clock", clock),
    ("deny", tools::deny),
    ("shear", tools::shear),
    ("docs", docs),
    ("markdown", tools::markdown),
    ("spelling", tools::spelling),
    ("subjects", subjects),
    ("words", words::check),
    ("format", format),
    ("clippy", clippy),
    ("wasm", wasm::check),
    (FEATURES, tools::features),
    (TEST, test),
    ("rustdoc", rustdoc),
];

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let is_asked_for = |name: &str| {
        let is_left_out =
            (args.no_test && name == TEST) || (args.only.is_empty() && name == FEATURES);
        !is_left_out && (args.only.is_empty() || args.only.iter().any(|only| only == name))
    };
    let mut failed = Vec::new();
    for (name, work) in STEPS.into_iter().filter(|(name, _)| is_asked_for(name)) {
        let start = Instant::now();
        let outcome = work();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => eprintln!("{name}: ok in {seconds:.1} s"),
            Err(error) => {
                eprintln!(
                    "{name}: failed after {seconds:.1} s: {}",
                    error.with_causes()
                );
                failed.push(name);
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Error::Steps(failed))
    }
}

fn replayed() -> Result<(), Error> {
    replayed::check(&workspace::root())
}

fn changelog() -> Result<(), Error> {
    changelog::check(&workspace::root())
}

fn clock() -> Result<(), Error> {
    clock::check(&workspace::root())
}

fn docs() -> Result<(), Error> {
    docs::check(&workspace::root())
}

fn subjects() -> Result<(), Error> {
    subjects::check(&workspace::root())
}

fn test() -> Result<(), Error> {
    test::run(&test::Args::default())
}

fn format() -> Result<(), Error> {
    command::show(workspace::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<(), Error> {
    let mut clippy = workspace::cargo();
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--keep-going",
    ]);
    command::show(clippy.args(["--", "-D", "warnings"]))
}

fn rustdoc() -> Result<(), Error> {
    let mut doc = workspace::cargo();
    // The features are those of clippy, so that nothing is checked twice.
    doc.args(["doc", "--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings");
    command::show(&mut doc)
}
