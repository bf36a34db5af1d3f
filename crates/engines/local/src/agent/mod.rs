//! An agent in a few lines.

pub(crate) mod agent_stream;
pub(crate) mod local_agent;

pub use self::{agent_stream::AgentEvent, local_agent::LocalAgent};
