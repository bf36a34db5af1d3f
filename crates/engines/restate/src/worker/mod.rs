//! The worker that serves the services.

pub(crate) mod agent_services;
pub(crate) mod health;
pub(crate) mod registration;
pub(crate) mod serving;
pub(crate) mod start_frame;
pub(crate) mod worker_url;
