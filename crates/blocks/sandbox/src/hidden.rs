//! What no tool of this process reaches, whatever it was set up with.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{places::Places, recorded};

static HIDDEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Hides this file or directory from all commands and file tools of this process from now on, such as a directory where
/// runs are journaled. A tool that works in it is not kept from it. A path that does not exist is left out.
pub fn hide(path: impl AsRef<Path>) {
    if let Ok(real) = path.as_ref().canonicalize() {
        let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
        hidden.insert(real);
    }
}

/// Those that are hidden from what works in this directory: they and the homes of runs that are this person's. Real paths.
pub(crate) fn from(cwd: &Path) -> Vec<PathBuf> {
    let records = Places::get().records.as_deref();
    let mut hidden = records.map(recorded::homes).unwrap_or_default();
    let asked = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    hidden.extend(asked.iter().cloned());
    hidden.retain(|path| !cwd.starts_with(path));
    hidden
}
