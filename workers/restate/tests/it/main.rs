//! Runs the worker's program against a real Restate server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod approval;
mod callers;
mod changed_file;
mod death;
mod health;
mod identity;
mod links;
mod mcp;
mod place;
mod refusals;
mod registering;
mod rolling_over;
