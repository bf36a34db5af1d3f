//! The vocabulary as other programs see it: its serialised forms, and what its few methods promise.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod agent_options;
mod approval_rules;
mod attenuation;
mod canonical;
mod cli_contract;
mod corpus;
mod durable_context;
mod fingerprint;
mod overrides;
mod provider;
mod public_surface;
mod refusal;
mod round_trip;
mod rules_of_commands;
mod rules_of_paths;
mod run_id;
mod run_status;
mod samples;
mod snapshot;
mod step_failure;
mod strategies;
mod tickets;
mod times;
mod token_usage;
mod tool_dyn;
mod tool_output;
mod tool_search;
mod variants;
mod wire;
