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
mod mind;
mod others;
mod skills;
mod subagents;
mod teams;
mod turn;
mod typed;
mod worker;
mod workflow;

use std::path::Path;

use neuron_harness::until;
use neuron_local::Journal;
use neuron_types::RunId;

/// Waits until no executor has the run any more: one that was dropped may still be writing.
async fn is_let_go(home: &Path, run: &str) {
    let journal = Journal::open(home).await.unwrap();
    let run: RunId = run.parse().unwrap();
    until(async || (!journal.is_executing(&run).unwrap()).then_some(())).await;
}
