//! A copy of what is in a home, to be looked at.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, path::Path};

use neuron_local::{Journal, JournalError};
use tempfile::TempDir;

use crate::CliError;

/// What was in a home when the command began.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) journal: Journal,
    /// Removed with the last that knows of it.
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

/// A temporary directory that its owner alone looks into, for a copy of a home.
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
