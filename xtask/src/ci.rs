//! `cargo xtask ci`: what a change must pass.

use std::time::Instant;

use crate::error::Error;
use crate::{command, docs, loop_room, test, workspace};

/// Checks the format, the lints, the tests and the documentation.
///
/// Every step runs, so that one run shows everything that is wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave the tests out.
    #[arg(long)]
    no_test: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut failed = Vec::new();
    let mut step = |name: &'static str, work: fn() -> Result<(), Error>| {
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
    };

    step("loop room", || loop_room::check(&workspace::root()));
    step("docs", || docs::check(&workspace::root()));
    step("format", format);
    step("clippy", clippy);
    if !args.no_test {
        step("test", || test::run(&test::Args::default()));
    }
    step("rustdoc", rustdoc);

    if failed.is_empty() {
        Ok(())
    } else {
        Err(Error::Steps(failed))
    }
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
    // With the features that clippy took, so that nothing is checked twice.
    doc.args(["doc", "--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings");
    command::show(&mut doc)
}
