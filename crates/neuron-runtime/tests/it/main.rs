//! The executor, the local doors, the journal and agent files, from outside.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod agent_file;
mod executor;
mod journal;
mod local;
mod models;
mod prices;
mod retry;
mod room;
mod support;
mod tokens;
