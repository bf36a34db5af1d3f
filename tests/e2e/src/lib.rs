#![doc = include_str!("../README.md")]
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
