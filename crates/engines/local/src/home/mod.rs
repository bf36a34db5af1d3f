//! The home directory of runs: its id, where its files are, and what becomes of it.

pub(crate) mod copy;
pub(crate) mod id;
pub(crate) mod paths;
pub(crate) mod take_over;
