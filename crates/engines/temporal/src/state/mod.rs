//! The state of a run's workflow beside the loop.

pub(crate) mod agent_host;
pub(crate) mod fill;
pub(crate) mod hosting;
pub(crate) mod registered;
pub(crate) mod run_view;
pub(crate) mod search_attributes;
pub(crate) mod segments;
