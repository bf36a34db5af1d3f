//! The client against local servers that speak Ollama's API.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod answers;
mod capabilities;
mod clients;
mod conversations;
mod corpus;
mod errors;
mod fake_api;
mod faults;
mod official_client;
#[path = "../../../provider-http/tests/it/raw_server.rs"]
mod raw_server;
mod replay;
mod requests;
mod round_trip;
mod streams;
