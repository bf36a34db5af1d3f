//! The check that Node.js is installed and new enough.

use std::process::Command;

use crate::command;
use crate::error::Error;

/// Checks that a program which runs on Node.js can run here.
///
/// # Errors
///
/// Returns an error if Node.js is missing or older than `minimum`.
pub(crate) fn check(name: &str, minimum: &str) -> Result<(), Error> {
    let found =
        command::ask(Command::new("node").arg("--version")).ok_or_else(|| Error::NodeMissing {
            name: name.to_owned(),
            minimum: minimum.to_owned(),
        })?;
    if parts(&found) < parts(minimum) {
        return Err(Error::NodeTooOld {
            name: name.to_owned(),
            minimum: minimum.to_owned(),
            found: found.trim().to_owned(),
        });
    }
    Ok(())
}

/// Splits a version such as `v20.15.0` into its numbers, which compare as versions do.
fn parts(version: &str) -> Vec<u64> {
    version
        .trim()
        .trim_start_matches('v')
        .split(['.', '-', '+'])
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_versions_by_their_numbers() {
        assert!(parts("v20.20.2\n") >= parts("20.15.0"));
        assert!(parts("v22.1.0") >= parts("20.15.0"));
        assert!(parts("v18.19.1") < parts("20.15.0"));
        assert!(parts("v20.9.0") < parts("20.15.0"));
    }

    #[test]
    fn a_version_that_cannot_be_read_is_too_old() {
        assert!(parts("unknown") < parts("20.15.0"));
    }
}
