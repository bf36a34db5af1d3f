//! The promises to users, checked with the `neuron` command as a process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod bad_input;
mod compose;
mod crash;
mod crash_at_commits;
mod crash_states;
mod demo;
mod failures;
mod kubernetes;
mod long_run;
mod many_tools;
mod model_apis;
mod programs;
mod providers;
mod reach;
mod red_team;
mod secrets;
mod side_by_side;
mod testing_page;
mod tickets;
mod traces;
mod workers;
