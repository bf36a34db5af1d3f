//! What cargo says of the workspace and its dependencies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::Error;
use crate::{command, workspace};

#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licences as an SPDX expression.
    pub(crate) license: Option<String>,
    /// Where its text is, from the manifest's folder.
    pub(crate) license_file: Option<PathBuf>,
    /// The registry or repository. None of a folder on this machine.
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
    /// The features, each with what it turns on.
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) manifest_path: PathBuf,
    /// The registries that it may be published in. None stands for all.
    pub(crate) publish: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    /// Where it is, if it is a folder on this machine.
    pub(crate) path: Option<PathBuf>,
    /// What it is for: `dev` or `build`. None is a dependency like any other.
    pub(crate) kind: Option<String>,
    /// The features that are asked for.
    #[serde(default)]
    pub(crate) features: Vec<String>,
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
    read(&["--no-deps"])
}

/// Returns the crates of the workspace and all that they depend on, on any platform and with any feature.
///
/// # Errors
///
/// Returns an error if cargo fails, also because the lock file is not up to date.
pub(crate) fn packages() -> Result<Vec<Package>, Error> {
    read(&["--locked", "--all-features"])
}

fn read(options: &[&str]) -> Result<Vec<Package>, Error> {
    let mut metadata = workspace::cargo();
    metadata.args(["metadata", "--format-version", "1"]);
    let text = command::read(metadata.args(options))?;
    let metadata: Metadata = serde_json::from_str(&text).map_err(Error::Metadata)?;
    Ok(metadata.packages)
}
