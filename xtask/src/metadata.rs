//! The output of cargo about the crates of the workspace.

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::Error;
use crate::{command, workspace};

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) targets: Vec<Target>,
    pub(crate) manifest_path: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) src_path: PathBuf,
}

/// Returns the crates of the workspace.
///
/// # Errors
///
/// Returns an error if cargo fails.
pub(crate) fn members() -> Result<Vec<Package>, Error> {
    let mut metadata = workspace::cargo();
    metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
    let text = command::read(&mut metadata)?;
    let metadata: Metadata = serde_json::from_str(&text).map_err(Error::Metadata)?;
    Ok(metadata.packages)
}
