//! An agent: its definition, and what executes it.

mod agent_error;
mod builder;
mod definition;
#[cfg(feature = "temporal")]
mod hosted;
mod model;
mod others;
mod parts;
mod serving;
mod step;

pub use agent_error::AgentError;
pub use builder::AgentBuilder;
pub use definition::{Agent, AgentOn};
#[cfg(feature = "temporal")]
pub(crate) use hosted::Hosted;
pub use model::Model;
pub use others::{HandoffEntry, SubAgentEntry};
pub(crate) use others::{Others, check_names};
pub(crate) use parts::prompt;
pub use parts::{AnyAgent, Parts};
pub use serving::Serving;
pub use step::{AgentTool, Step, SteppedTool, ToolStep};
