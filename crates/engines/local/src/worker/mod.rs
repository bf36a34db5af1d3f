//! A worker: executes the runs of a journal that no process has.

pub(crate) mod counts;
pub(crate) mod event;
pub(crate) mod execution;
pub(crate) mod local_worker;
pub(crate) mod memory;
pub(crate) mod source;
