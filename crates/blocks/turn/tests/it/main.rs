//! The turn protocol: its JSON, what it makes of an agent, and the tools that ask for effects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod carry_out;
mod config;
mod tools;
mod wire;
