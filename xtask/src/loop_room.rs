//! The loop room's lints are in two places, because clippy reads one file a crate: they must agree.

use std::fs;
use std::path::Path;

use crate::error::Error;

const FIRST: &str = "crates/neuron-loop/clippy.toml";
const SECOND: &str = "workflows/clippy.toml";

/// Checks that the crates of the loop room have the same lints.
///
/// # Errors
///
/// Returns an error if a file cannot be read or the two differ.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    if read(root, FIRST)? == read(root, SECOND)? {
        Ok(())
    } else {
        Err(Error::LintsDiffer {
            first: FIRST,
            second: SECOND,
        })
    }
}

fn read(root: &Path, path: &str) -> Result<String, Error> {
    let path = root.join(path);
    fs::read_to_string(&path).map_err(|source| Error::File {
        path,
        action: "read",
        source,
    })
}
