//! The decisions of a run, without I/O.

pub(crate) mod action;
pub(crate) mod agent_machine;
pub(crate) mod answer;
pub(crate) mod approval;
pub(crate) mod batch;
pub(crate) mod boundary;
pub(crate) mod context;
