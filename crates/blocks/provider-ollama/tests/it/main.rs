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
mod chat;
mod conversations;
mod corpus;
mod errors;
mod fake_api;
mod manage;
mod official_client;
mod replay;
mod requests;
mod round_trip;
mod streams;
