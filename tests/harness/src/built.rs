//! The folder in which cargo puts the programs that it builds with the tests.

use std::{env, io, path::PathBuf};

/// Returns that folder: `target/debug` for a test in `target/debug/deps`.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let test = env::current_exe()?;
    let folder = test.ancestors().nth(2).unwrap_or(&test);
    Ok(folder.to_path_buf())
}
