//! Runs on a real Restate server, started by the tests on ports of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod callers;
mod cancelling;
mod clients;
mod conformance;
mod continue_as_new;
mod continue_as_new_lost;
mod deployments;
mod door;
mod entries;
mod guard;
mod hold_ups;
mod journals;
mod lacking;
mod large;
mod listening;
mod long_run;
mod lost_server;
mod lost_workers;
mod many_runs;
mod naming;
mod one_wait;
mod patches;
mod retries;
mod server;
mod signals;
mod sinks;
mod stage;
mod suspension;
mod tickets;
mod tokens;
mod trees;
