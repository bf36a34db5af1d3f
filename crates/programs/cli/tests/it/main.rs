//! The built command, run as a process: its output and its exit codes.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are not themselves marked as tests"
)]

mod agents;
mod approvals;
mod changes;
mod costs;
mod doctor;
mod engine_dev;
mod engine_others;
mod engine_people;
mod engine_place;
mod engine_replay;
mod engine_runs;
mod engine_secrets;
mod engine_sessions;
mod engine_states;
mod errors;
mod events;
mod everything;
mod handoffs;
mod help;
mod homes;
mod interruption;
mod mcp;
mod mcp_home;
mod mcp_questions;
mod mcp_restart;
mod model_server;
mod resume;
mod run;
mod served;
mod sessions;
mod show;
mod signed;
mod status;
mod steering;
mod stored_sessions;
mod streaming;
mod support;
mod terminal;
mod tool_limits;
mod tree_attacks;
mod tree_commands;
mod tree_questions;
mod trees;
mod trust;
mod upgrade;
mod wait;
mod worker;
