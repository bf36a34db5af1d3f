//! The client against the protocol's own servers and against hostile ones; the server against its inspector.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod asking;
mod confined;
mod conformance;
mod corpus;
mod everything;
mod everything_http;
mod filesystem;
mod hostile;
mod hostile_http;
mod inspector;
mod odd_http;
mod origin;
mod pages;
mod programs;
mod recorder;
mod secrets;
mod server;
mod servers;
mod stopping;
mod unanswered;
mod wild;
