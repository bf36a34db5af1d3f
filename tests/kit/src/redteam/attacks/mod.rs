//! The attacks, by their purposes.

mod decisions;
mod files;
mod folder;
mod keys;
mod network;
mod processes;
mod rules;

use super::attack::Attack;

/// Returns all attacks, in the order of the book.
pub fn attacks() -> impl Iterator<Item = Attack> {
    keys::ALL
        .iter()
        .chain(folder::ALL)
        .chain(network::ALL)
        .chain(processes::ALL)
        .chain(rules::ALL)
        .chain(files::ALL)
        .chain(decisions::ALL)
        .copied()
}
