//! What is the same on every engine, tested without an engine.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may panic as tests may"
)]

mod bodies;
mod errors;
mod fake;
mod handles;
mod pages;
mod transcripts;
mod waiting;
