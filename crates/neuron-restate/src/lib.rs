#![doc = include_str!("../README.md")]

mod address;
mod cancellation;
mod client;
mod context;
mod decision;
mod dispatch;
mod drain;
mod endpoint;
mod error;
mod executors;
mod inbox;
mod log;
mod mailbox;
mod metrics;
mod names;
mod parallel;
mod refusal;
mod run_page;
mod service;
mod serving;
mod steps;
mod tools;
mod wire;

pub use address::ServerAddress;
pub use client::RestateClient;
pub use context::RestateDurableContext;
pub use endpoint::AgentServices;
pub use error::{ClientError, SettingsError};
pub use executors::Executors;
pub use metrics::Metrics;
pub use names::{DEFAULT_PREFIX, ServiceNames};
pub use run_page::RunPage;
pub use service::Workflow;
