#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod aimock;
mod built;
pub mod chat;
mod engines;
mod fake_model;
mod fetched;
mod gate;
mod holders;
pub mod http;
mod link;
mod llmock;
mod mcp_servers;
mod open_files;
mod oteltap;
mod poll;
mod ports;
mod process;
mod program;
mod python;
mod running;
mod world;

pub use crate::{
    aimock::Aimock,
    engines::{Addresses, Engine, EngineError, EngineServer, Launcher, TimeSkippingServer},
    fake_model::{FakeModel, Reply, Request},
    gate::{Gate, HeldReader, PipeGate},
    holders::holders,
    link::Link,
    llmock::Llmock,
    mcp_servers::{
        ASKING_SERVER, EverythingServer, HOSTILE_SERVER, MANY_TOOLS_SERVER, mcp_program,
    },
    open_files::is_open,
    oteltap::Oteltap,
    poll::{eventually, until},
    ports::free_address,
    process::{Process, have_ended, is_running},
    program::{Program, has_heard, program_in},
    python::python,
    running::{Finished, Running},
    world::{World, workspace},
};
