//! The client against a local server that speaks the Messages API.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod answers;
mod caching;
mod client;
mod errors;
mod fake_api;
mod replay;
mod requests;
mod round_trip;
