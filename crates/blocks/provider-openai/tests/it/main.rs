//! The clients against a local server that speaks as OpenAI does.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod chat_answers;
mod chat_requests;
mod clients;
mod compaction;
mod conversations;
mod corpus;
mod errors;
mod fake_api;
mod faults;
mod fixtures;
mod models;
mod official_client;
#[path = "../../../provider-http/tests/it/raw_server.rs"]
mod raw_server;
mod replay;
mod responses_answers;
mod responses_requests;
mod round_trip;
mod streams;
mod tools;
mod wires;
