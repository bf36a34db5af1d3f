//! The worker that serves workflows and makes the calls of their runs.

pub(crate) mod agent_worker;
pub(crate) mod worker_error;
