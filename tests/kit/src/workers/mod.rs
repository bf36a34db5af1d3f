//! The setup of a worker's process: agents in a folder, and variables.

mod agent_folder;
mod in_flight;
pub mod worker_variables;

pub use self::{agent_folder::AgentFolder, in_flight::InFlight};
