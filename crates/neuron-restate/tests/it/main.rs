//! Runs on a real Restate server, started by the tests on ports of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod cancelling;
mod clients;
mod guard;
mod journals;
mod large;
mod long_run;
mod lost_server;
mod lost_workers;
mod many_runs;
mod rolled_over;
mod rolled_over_lost;
mod server;
mod signals;
mod sinks;
mod stage;
mod suspension;
mod tickets;
mod tokens;
