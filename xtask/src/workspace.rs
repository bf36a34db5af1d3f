//! The location of the workspace.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The prefixes of the variables that cargo sets for the programs that it runs, and that build scripts read: with them,
/// cargo would build again what it has built for a call by hand.
const OF_CARGO: [&str; 4] = [
    "CARGO_PKG_",
    "CARGO_MANIFEST_",
    "CARGO_BIN_",
    "CARGO_CRATE_",
];

/// Returns a cargo command that runs at the root, with the cargo that runs this program.
pub(crate) fn cargo() -> Command {
    at_root(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Returns a command that runs at the root, with the environment that cargo has when it is called by hand.
pub(crate) fn at_root(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in env::vars_os() {
        let is_of_cargo = |begin: &&str| name.to_string_lossy().starts_with(begin);
        if OF_CARGO.iter().any(is_of_cargo) {
            command.env_remove(name);
        }
    }
    command
}
