//! The attempts of steps in a worker: making them, and keeping them while an invocation is away.

pub(crate) mod attempted;
pub(crate) mod drain;
pub(crate) mod metrics;
pub(crate) mod presence;
pub(crate) mod registry;
pub(crate) mod tasks;
pub(crate) mod work;
pub(crate) mod worker_context;
