//! The worker that serves workflows and makes the calls of their runs.

pub(crate) mod agent_worker;
pub(crate) mod health;
mod patient;
mod slots;
mod tuning;
pub(crate) mod versioning;
pub(crate) mod worker_error;
