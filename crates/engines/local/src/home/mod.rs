//! Homes of runs: where their files are, whose they are, and what a stranger's holds.

pub(crate) mod copy;
pub(crate) mod files;
pub(crate) mod id;
pub(crate) mod paths;
pub(crate) mod store;
