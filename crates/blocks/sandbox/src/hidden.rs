//! What no tool of this process reaches, whatever it was set up with.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static HIDDEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Hides this file or directory from all commands and file tools of this process from now on, such as a directory where
/// runs are journaled. A tool that works in it is not kept from it. A path that does not exist is left out.
pub fn hide(path: impl AsRef<Path>) {
    if let Ok(real) = path.as_ref().canonicalize() {
        let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
        hidden.insert(real);
    }
}

/// Returns the paths that are hidden from what works in this directory. They are real paths.
pub(crate) fn from(cwd: &Path) -> Vec<PathBuf> {
    let hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    let hidden = hidden.iter().filter(|path| !cwd.starts_with(path));
    hidden.cloned().collect()
}
