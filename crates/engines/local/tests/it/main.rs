//! The doors in this process, from outside.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod conformance;
mod corpus;
mod door;
mod homes;
mod journal;
mod local;
mod room;
mod sessions;
mod tokens;
mod worker;
