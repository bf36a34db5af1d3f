//! The setup of a worker's process: agents in a folder, and variables.

mod agent_folder;
mod desk;
mod in_flight;
pub mod worker_variables;

pub use self::{
    agent_folder::AgentFolder,
    desk::{Came, Desk},
    in_flight::InFlight,
};
