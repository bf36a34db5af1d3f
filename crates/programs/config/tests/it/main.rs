//! Agent files and the models without a network, from outside.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod agent_file;
mod corpus;
mod models;
mod times;
