//! What a test gives the process of a worker: agents in a folder, and variables.

mod agent_folder;
pub mod worker_variables;

pub use self::agent_folder::AgentFolder;
