//! Programs beside the test: how they are started, told what they need, and asked.

mod agent_folder;
mod asking;
pub mod http;
mod process;
pub mod worker_variables;

pub use self::{
    agent_folder::{AgentFolder, Program, program_in},
    asking::{free_address, http_get, until},
    process::{Process, have_ended, is_running},
};
