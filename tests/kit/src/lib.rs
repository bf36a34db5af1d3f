#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod engines;
mod executors;
mod fakes;
mod hosts;
mod programs;
pub mod scenarios;
mod stages;
mod worlds;

pub use engines::{Addresses, Engine, EngineError, EngineServer, Launcher};
pub use executors::{effects, tokens};
pub use fakes::{
    BrokenOffAnswer, Crowd, EverythingServer, HOSTILE_SERVER, NotedModel, NotedTool, Pieces,
    StreamingModel, StubbornServer, Watcher, input_of, mcp_program, noted_agent, run_locally,
};
pub use hosts::{
    ClientSession, Host, HostError, JournaledHost, JournaledSession, LocalHost, LocalSession,
    Session,
};
pub use programs::{
    AgentFolder, Process, Program, free_address, have_ended, http, http_get, is_running,
    program_in, until, worker_variables,
};
pub use stages::{
    Record, Run, Stage, agent, check_delays, decision, expect, run_all, run_client, run_matching,
};
pub use worlds::{Attempt, Ending, Gate, ScriptedModel, World, executor_at};
