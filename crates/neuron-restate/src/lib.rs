//! Runs agents as Restate workflows.

mod cancellation;
mod context;
mod decision;
mod dispatch;
mod endpoint;
mod error;
mod executors;
mod inbox;
mod log;
mod mailbox;
mod names;
mod parallel;
mod refusal;
mod service;
mod steps;
mod tools;
mod wire;

pub use context::RestateDurableContext;
pub use endpoint::AgentServices;
pub use error::SettingsError;
pub use executors::Executors;
pub use names::{DEFAULT_PREFIX, ServiceNames};
pub use service::Workflow;
