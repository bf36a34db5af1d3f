//! The processes that descend from one.

use std::{collections::BTreeSet, fs};

use rustix::process::Pid;

/// Returns the descendants that exist now, nearest first. Some that are just being started may be missing.
pub(crate) fn descendants(of: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for child in children(parent) {
            if known.insert(child.as_raw_nonzero()) {
                found.push(child);
                parents.push(child);
            }
        }
    }
    found
}

/// Returns the children of all threads of a process.
fn children(of: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{}/task", of.as_raw_nonzero()));
    let mut found = Vec::new();
    for thread in threads.into_iter().flatten().flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let ids = text.split_whitespace().flat_map(str::parse);
        found.extend(ids.filter_map(Pid::from_raw));
    }
    found
}
