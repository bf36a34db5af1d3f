//! Checks that the core compiles for a browser, where futures have one thread.

use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::{command, workspace};

/// The target of a browser.
const TARGET: &str = "wasm32-unknown-unknown";

/// The crates that run there: those without files, programs and sockets.
const CRATES: [&str; 5] = [
    "neuron-types",
    "neuron-context",
    "neuron-flow",
    "neuron-loop",
    "neuron-policy",
];

/// Checks the core for that target, and reports it if the target is not installed.
///
/// # Errors
///
/// Returns an error if a crate does not compile.
pub(crate) fn check() -> Result<(), Error> {
    if !is_installed() {
        eprintln!("nothing was checked: `rustup target add {TARGET}` installs the target");
        return Ok(());
    }
    let mut check = workspace::cargo();
    check.args(["check", "--quiet", "--no-default-features", "--target"]);
    check.arg(TARGET);
    for name in CRATES {
        check.args(["--package", name]);
    }
    command::show(&mut check)
}

fn is_installed() -> bool {
    let mut rustc = Command::new("rustc");
    let sysroot = command::ask(rustc.args(["--print", "sysroot"]));
    sysroot.is_some_and(|sysroot| {
        let targets = Path::new(sysroot.trim()).join("lib/rustlib");
        targets.join(TARGET).is_dir()
    })
}
