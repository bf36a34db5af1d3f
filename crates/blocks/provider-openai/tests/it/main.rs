//! The clients against a local server that speaks as OpenAI does.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod chat;
mod chat_answers;
mod chat_requests;
mod clients;
mod compaction;
mod conversations;
mod corpus;
mod errors;
mod event;
mod fake_api;
mod fixtures;
mod models;
mod official_client;
mod replay;
mod responses;
mod responses_answers;
mod responses_requests;
mod round_trip;
mod streams;
mod tool_search;
mod tools;
