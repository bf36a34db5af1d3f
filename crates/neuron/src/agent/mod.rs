//! An agent: what it is, and what acts for it.

mod agent_error;
mod builder;
mod definition;
#[cfg(feature = "temporal")]
mod hosted;
mod model;
mod parts;
mod serving;
mod step;

pub use agent_error::AgentError;
pub use builder::AgentBuilder;
pub use definition::{Agent, AgentOn};
pub use model::Model;
pub(crate) use parts::prompt;
#[cfg(any(feature = "temporal", feature = "restate"))]
pub(crate) use parts::served;
pub use parts::{AnyAgent, Parts};
pub use serving::{InJournal, InMemory, OnRestate, Serving};
pub use step::{AgentTool, Step, SteppedTool, ToolStep};
