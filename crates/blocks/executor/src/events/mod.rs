//! What is shown of a run while it executes.

pub(crate) mod progress;
pub(crate) mod sink;
pub(crate) mod token;
