//! What every door does with what a run has started.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod adapter;
mod flow;
mod flow_model;
mod flow_script;
mod retry;
mod said;
mod step_life;
