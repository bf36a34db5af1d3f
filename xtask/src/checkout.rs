//! The files of the checkout, as Git lists them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::error::Error;

/// Returns the names of the files that Git knows or does not ignore, from this root; with patterns, of those that fit one.
///
/// # Errors
///
/// Returns an error if Git fails.
pub(crate) fn files(root: &Path, patterns: &[&str]) -> Result<Vec<String>, Error> {
    let mut git = Command::new("git");
    git.current_dir(root);
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    git.arg("--").args(patterns);
    let listed = command::read(&mut git)?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Reads a file of that list. Returns `None` if the file was deleted, which Git does not know yet.
///
/// # Errors
///
/// Returns an error that names a file that cannot be read.
pub(crate) fn read(root: &Path, name: &str) -> Result<Option<String>, Error> {
    match fs::read_to_string(root.join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File {
            path: PathBuf::from(name),
            action: "read",
            source,
        }),
    }
}
