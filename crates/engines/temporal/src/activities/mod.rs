//! The activities: model calls and tool calls in a worker.

pub(crate) mod agent_activities;
pub(crate) mod attempt;
mod blocking;
