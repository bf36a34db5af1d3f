//! The worker that serves the services.

pub(crate) mod agent_services;
pub(crate) mod serving;
