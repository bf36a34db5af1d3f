#![doc = include_str!("../README.md")]

mod attempts;
mod client;
mod door;
mod services;
mod wire;
mod worker;

pub use attempts::metrics::Metrics;
pub use client::{RestateClient, ServerAddress};
pub use door::durable_context::RestateDurableContext;
pub use services::segments::Workflow;
pub use wire::service_names::{DEFAULT_PREFIX, ServiceNames};
pub use wire::settings_error::SettingsError;
pub use worker::{
    agent_services::AgentServices,
    health::WorkerHealth,
    registration::Registration,
    worker_url::{deployment_name, worker_url},
};
