//! A copy of the contents of a home, for reading.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, path::Path};

use neuron_local::{Journal, JournalError};
use tempfile::TempDir;

use crate::CliError;

/// The contents of a home when the command began.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) journal: Journal,
    /// The folder of the copy, removed with its last user.
    pub(crate) folder: TempDir,
}

impl Copied {
    /// # Errors
    ///
    /// [`CliError::Journal`] if something cannot be copied.
    pub(crate) async fn of(home: &Path) -> Result<Self, CliError> {
        let folder = private_folder()?;
        let journal = Journal::open_copy(home, folder.path()).await?;
        Ok(Self { journal, folder })
    }
}

/// Returns a temporary directory that only its owner can read, for a copy of a home.
///
/// # Errors
///
/// [`CliError::Journal`].
pub(crate) fn private_folder() -> Result<TempDir, CliError> {
    let mut folder = tempfile::Builder::new();
    let folder = folder
        .prefix("neuron-look-")
        .permissions(Permissions::from_mode(0o700));
    let folder = folder.tempdir().map_err(|source| JournalError::Home {
        path: std::env::temp_dir(),
        source,
    })?;
    Ok(folder)
}
