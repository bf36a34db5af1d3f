//! An agent as one value, in memory and in a journal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod building;
mod local;
mod typed;
mod workflow;
