//! Homes of runs: where their files are, who owns them, and how a stranger's home is read.

pub(crate) mod copy;
pub(crate) mod files;
pub(crate) mod id;
pub(crate) mod paths;
pub(crate) mod store;
