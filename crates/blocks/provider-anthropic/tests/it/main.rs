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
mod compaction;
mod containers;
mod corpus;
mod errors;
mod fake_api;
mod messages;
mod models;
mod official_client;
mod refusals;
mod replay;
mod requests;
mod round_trip;
mod streaming;
mod thinking;
mod tool_search;
mod tools;
mod wire;
mod wire_stream;
