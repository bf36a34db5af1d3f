//! The client against local servers: real sockets, no network.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod errors;
mod faults;
mod raw_server;
mod requests;
