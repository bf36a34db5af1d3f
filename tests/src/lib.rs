//! Shared by the end-to-end tests: the `neuron` command as a process, and the model APIs that it talks to.
//!
//! Everything is in a folder of its own and ends with the value that started it, so tests run side by side
//! and leave nothing behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

pub mod aimock;
#[cfg(any(doctest, test))]
mod book;
pub mod chat;
pub mod fake_model;
pub mod gate;
mod holders;
pub mod llmock;
pub mod poll;
pub mod process;
pub mod world;

pub use crate::{
    aimock::Aimock,
    fake_model::{FakeModel, Reply, Request},
    gate::{Gate, PipeGate},
    holders::holders,
    llmock::Llmock,
    poll::eventually,
    process::{Finished, Running},
    world::World,
};
