//! The client: starts runs, follows them and reaches into them.

mod agent_client;
mod decisions;
mod failing;
mod fault;
mod listing;
mod memo;
mod queries;
mod run_client;
mod transcript;
mod without_worker;

pub use self::agent_client::AgentClient;
