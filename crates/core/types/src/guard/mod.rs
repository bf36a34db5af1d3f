//! Checking what goes into a run, through it and out of it.

pub(crate) mod error;
pub(crate) mod guardrail;
pub(crate) mod judge;
pub(crate) mod point;
pub(crate) mod request;
pub(crate) mod spec;
pub(crate) mod subject;
pub(crate) mod traits;
