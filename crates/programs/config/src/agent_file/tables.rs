//! The tables of an agent file, and what each of them means.

pub(crate) mod activity;
pub(crate) mod agents;
pub(crate) mod approvers;
pub(crate) mod commands;
pub(crate) mod context;
pub(crate) mod costs;
pub(crate) mod guards;
pub(crate) mod handoffs;
pub(crate) mod hooks;
pub(crate) mod judges;
pub(crate) mod limits;
pub(crate) mod mcp_names;
pub(crate) mod mcp_settings;
pub(crate) mod model_name;
pub(crate) mod models;
pub(crate) mod on;
pub(crate) mod places;
pub(crate) mod pools;
pub(crate) mod reach;
pub(crate) mod rules;
pub(crate) mod sandbox;
pub(crate) mod sessions;
pub(crate) mod steps;
pub(crate) mod subagents;
pub(crate) mod tool_limits;
pub(crate) mod tools;
