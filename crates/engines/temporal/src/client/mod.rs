//! The client: starts runs, follows them and sends them signals and decisions.

mod agent_client;
mod api_key_file;
mod decisions;
mod failing;
mod failing_task;
mod fault;
mod listing;
mod memo;
mod missing_worker;
mod newest;
mod patient;
mod queries;
mod run_client;
mod silence;
mod transcript;
mod without_worker;

pub use self::agent_client::AgentClient;
