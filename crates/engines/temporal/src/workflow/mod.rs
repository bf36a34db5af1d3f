//! The workflow that hosts a run.

pub(crate) mod agent_workflow;
pub(crate) mod host;
