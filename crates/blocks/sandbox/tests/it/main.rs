//! What sandboxes promise, with real processes on both back ends.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod descriptors;
mod environment;
mod files;
mod limits;
mod links;
mod outside;
mod place;
mod planted;
mod processes;
mod programs;
mod protected;
mod readable;
