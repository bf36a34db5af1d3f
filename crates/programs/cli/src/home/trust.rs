//! Finds out whether a home of runs is a person's own.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use neuron_config::{Environment, trusts_all};
use neuron_local::{HomeStore, JournalError, home_files, home_files_to_look_at, home_has_files};

/// The ownership of a home of runs that was found and not named: its contents decide what runs do, and in which
/// directory.
#[derive(Debug)]
pub(crate) enum HomeTrust {
    /// The home is the person's own, or the variable `NEURON_TRUST` is `1`. Its files are here.
    Own(PathBuf),
    /// The home is still empty, and the environment names no place for files. For this process it is the person's own,
    /// with its files in it. For other processes it is foreign as soon as something is in it.
    Unrecorded,
    /// The home is not known to be the person's own.
    Foreign(Foreign),
}

/// Why a home is not known to be a person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The home contains files of unknown origin: it came with a repository, or an older neuron or a program of the
    /// person made it.
    Database,
    /// The home has the id of another home of the person: it was moved from there, or copied.
    Moved(PathBuf),
    /// The home is a link, so that its author chose which home it is.
    Link,
}

/// Returns the person's records of homes.
pub(crate) fn store(environment: &dyn Environment) -> Option<HomeStore> {
    HomeStore::find(|name| environment.variable(name).map(OsString::from))
}

/// Finds out whose an existing home is. An empty one becomes the person's own.
///
/// # Errors
///
/// [`JournalError::Home`] if the home cannot be read, or its files cannot be kept or are also another user's.
pub(crate) fn trust_of(
    home: &Path,
    environment: &dyn Environment,
) -> Result<HomeTrust, JournalError> {
    let store = store(environment);
    if let Some(files) = store.as_ref().and_then(|store| store.files_of(home)) {
        return Ok(HomeTrust::Own(files));
    }
    let moved = store.as_ref().and_then(|store| {
        let before = store.moved_from(home)?;
        Some((store, before))
    });
    if trusts_all(environment) {
        return Ok(HomeTrust::Own(match moved {
            Some((store, _)) => store.adopt(home, &home_files_to_look_at(home))?,
            None => home_files(home),
        }));
    }
    let found = fs::symlink_metadata(home).map_err(|source| JournalError::Home {
        path: home.to_owned(),
        source,
    })?;
    if found.is_symlink() {
        return Ok(HomeTrust::Foreign(Foreign::Link));
    }
    if let Some((_, before)) = moved {
        return Ok(HomeTrust::Foreign(Foreign::Moved(before)));
    }
    if home_has_files(home) {
        return Ok(HomeTrust::Foreign(Foreign::Database));
    }
    Ok(match store {
        Some(store) => HomeTrust::Own(store.claim(home)?),
        None => HomeTrust::Unrecorded,
    })
}
