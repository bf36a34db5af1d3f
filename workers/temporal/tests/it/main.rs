//! Runs the worker's program against a real Temporal dev server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod callers;
mod changed_file;
mod death;
mod health;
mod links;
mod mcp;
mod place;
mod refusals;
