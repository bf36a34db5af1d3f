//! Going through the files under a directory.

use std::path::Path;

use ignore::WalkBuilder;
use neuron_types::ToolError;
use tokio_util::sync::CancellationToken;

use crate::builtin::files::{blocking::check, root::Root};

/// Calls `visit` with every regular file under `start`, or with `start` itself if it is one, until it
/// answers false. Files come in the order of their paths.
///
/// Hidden files are left out, what tools may not read, and what `.gitignore` and `.ignore` files name, also those above
/// `start`.
/// Symbolic links are not followed. Directories that cannot be read are passed over; the answer says how
/// many.
pub(crate) fn files(
    root: &Root,
    start: &Path,
    stop: &CancellationToken,
    mut visit: impl FnMut(&Path) -> Result<bool, ToolError>,
) -> Result<usize, ToolError> {
    let protection = root.protection().clone();
    let walk = WalkBuilder::new(start)
        .filter_entry(move |entry| !protection.hides(entry.path()))
        .require_git(false)
        // The same tree gives the same answer on every machine.
        .git_global(false)
        .sort_by_file_path(Path::cmp)
        .build();
    let mut unreadable = 0;
    for entry in walk {
        check(stop)?;
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && !visit(entry.path())? {
            break;
        }
    }
    Ok(unreadable)
}

/// Returns what to say of directories that could not be read.
pub(crate) fn unreadable_note(unreadable: usize) -> Option<String> {
    (unreadable > 0).then(|| format!("{unreadable} directories could not be read"))
}
