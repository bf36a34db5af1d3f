//! The client: starts runs, follows them and sends them signals and decisions.

mod fault;
mod hold_ups;
mod http_endpoint;
mod journals;
mod listing;
mod registration;
mod restate_client;
mod run_client;
mod server_address;
mod setup_error;
mod tables;
mod token;
mod without_worker;

pub use self::{restate_client::RestateClient, server_address::ServerAddress};
