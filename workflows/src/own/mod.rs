//! Workflows of one's own.

pub(crate) mod door;
pub(crate) mod run;
pub(crate) mod scoped_agent;
pub(crate) mod text;
pub(crate) mod workflow;
pub(crate) mod workflow_error;
