//! Whether a home of runs is a person's own.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use neuron_config::{Environment, trusts_all};
use neuron_local::{HomeStore, JournalError, home_files, home_has_databases};

/// Whose a home of runs is that nobody named: what is in it decides what runs do, and in which directory.
#[derive(Debug)]
pub(crate) enum HomeTrust {
    /// The person's own, or the variable `NEURON_TRUST` is `1`. Its files are here.
    Own(PathBuf),
    /// Nothing is in it yet, and it could not be made the person's own: for this process it is, with its files in the home, and
    /// for others it is foreign as soon as something is in it.
    Unrecorded {
        /// Why; `None` where the environment names no place for files.
        source: Option<JournalError>,
    },
    /// Not known to be theirs.
    Foreign(Foreign),
}

/// Why a home is not known to be a person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// Somebody's database is in it: it came with a repository, or an older neuron or a program of one's own made it.
    Database,
    /// It has the id of another home of the person: it was moved from there, or copied.
    Moved(PathBuf),
    /// It is a link, so that whoever made it chose which home it is.
    Link,
}

/// The person's files of homes.
pub(crate) fn store(environment: &dyn Environment) -> Option<HomeStore> {
    HomeStore::find(|name| environment.variable(name).map(OsString::from))
}

/// Finds out whose a home is, which exists. One with nothing in it becomes the person's own.
///
/// # Errors
///
/// The system's, where the home cannot be looked at.
pub(crate) fn trust_of(home: &Path, environment: &dyn Environment) -> std::io::Result<HomeTrust> {
    let store = store(environment);
    if let Some(files) = store.as_ref().and_then(|store| store.files_of(home)) {
        return Ok(HomeTrust::Own(files));
    }
    if trusts_all(environment) {
        return Ok(HomeTrust::Own(home_files(home)));
    }
    if fs::symlink_metadata(home)?.is_symlink() {
        return Ok(HomeTrust::Foreign(Foreign::Link));
    }
    if let Some(before) = store.as_ref().and_then(|store| store.moved_from(home)) {
        return Ok(HomeTrust::Foreign(Foreign::Moved(before)));
    }
    if home_has_databases(home) {
        return Ok(HomeTrust::Foreign(Foreign::Database));
    }
    let Some(store) = store else {
        return Ok(HomeTrust::Unrecorded { source: None });
    };
    Ok(match store.claim(home) {
        Ok(files) => HomeTrust::Own(files),
        Err(error) => HomeTrust::Unrecorded {
            source: Some(error),
        },
    })
}
