//! Runs on a real Temporal dev server, started by each test on a port of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod approvals;
mod blocking;
mod callers;
mod cancelling;
mod conformance;
mod continue_as_new;
mod continue_as_new_signals;
mod door;
mod foreign;
mod history_size;
mod hooks;
mod lacking;
mod large;
mod many_runs;
mod naming;
mod newer;
mod one_wait;
mod patches;
mod patience;
mod placement;
mod queries;
mod replays;
mod sinks;
mod stage;
mod trees;
mod ui;
mod week;
