//! The steps of `cargo xtask ci` that programs of others do, each in the version of `engines.lock.toml`.

use std::process::Command;

use crate::error::Error;
use crate::{command, engines, workspace};

/// Checks the licences, the sources and the versions of all dependencies by the rules of `deny.toml`, those of tests,
/// of every feature and of other platforms too.
///
/// # Errors
///
/// Returns an error if cargo-deny cannot be fetched, or finds what breaks a rule.
pub(crate) fn deny() -> Result<(), Error> {
    let mut deny = fetched("cargo-deny")?;
    deny.args(["--locked", "--all-features", "--log-level", "error"]);
    command::show(deny.args(["check", "--show-stats", "licenses", "bans", "sources"]))
}

/// Checks that every dependency of a crate is used, and that those of tests only are marked as such.
///
/// # Errors
///
/// Returns an error if cargo-shear cannot be fetched, or finds one that is not.
pub(crate) fn shear() -> Result<(), Error> {
    command::quiet(fetched("cargo-shear")?.args(["--locked", "--deny-warnings"]))
}

/// Checks every crate by itself, without features and then with one feature each, tests left aside.
///
/// In the whole workspace, features of a crate are on because another crate wants them, or because they are on by
/// default. A crate that depends on one crate has what that one asks for.
///
/// # Errors
///
/// Returns an error if cargo-hack cannot be fetched, or if a crate does not compile or does so with warnings.
pub(crate) fn features() -> Result<(), Error> {
    let mut hack = fetched("cargo-hack")?;
    hack.args(["hack", "clippy", "--workspace", "--each-feature"]);
    hack.args(["--exclude-features", "default", "--exclude-all-features"]);
    command::show(hack.args(["--keep-going", "--quiet", "--", "-D", "warnings"]))
}

/// Checks the form of every Markdown page that is not ignored by Git, by the rules of `.rumdl.toml`.
///
/// # Errors
///
/// Returns an error if rumdl cannot be fetched, or finds what breaks a rule.
pub(crate) fn markdown() -> Result<(), Error> {
    command::quiet(fetched("rumdl")?.args(["check", "--no-cache", "--deny-config-warnings", "."]))
}

/// Checks the spelling of every file that is not ignored by Git. `_typos.toml` says what is right nevertheless.
///
/// # Errors
///
/// Returns an error if typos cannot be fetched, or one that lists what is misspelt and how it is spelt.
pub(crate) fn spelling() -> Result<(), Error> {
    command::quiet(fetched("typos")?.args(["--format", "brief"]))
}

/// Returns a command of a locked program that runs at the root, after fetching it if that is needed.
fn fetched(name: &str) -> Result<Command, Error> {
    Ok(workspace::at_root(engines::ensure(name)?))
}
