//! The conformance kit on both local doors and on both engines, and the kit itself.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod engines;
mod histories;
mod http;
mod journaled;
mod kit;
mod local;
mod remote;
mod restate;
mod temporal;
