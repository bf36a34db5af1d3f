//! Programs that `cargo xtask engines` fetches.

use std::{env, path::PathBuf, process::Command};

use serde_json::Value;

/// Returns the path of a program, which is fetched if it is missing.
///
/// # Errors
///
/// The message of the command that cannot fetch it.
pub(crate) fn fetched(name: &str) -> Result<PathBuf, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let found = Command::new(cargo)
        .args(["xtask", "engines", name, "--json"])
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let paths: Value = serde_json::from_slice(&found.stdout).unwrap_or_default();
    let path = paths[name].as_str().map(PathBuf::from);
    path.ok_or_else(|| String::from_utf8_lossy(&found.stderr).trim().to_owned())
}
