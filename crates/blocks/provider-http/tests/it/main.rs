//! The client against local servers: real sockets, no network.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod corpus;
mod decoders;
mod errors;
mod faults;
mod requests;
mod streams;
