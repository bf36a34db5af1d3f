#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

pub mod door;
mod executors;
mod fakes;
mod hosts;
pub mod redteam;
pub mod scenarios;
mod stages;
mod workers;
mod worlds;

pub use executors::{effects, tokens};
pub use fakes::{
    BrokenOffAnswer, Crowd, Moment, NotedModel, NotedTool, Pieces, StreamingModel, StubbornServer,
    Turnstile, Watcher, input_of, noted_agent, parked_tree, run_locally,
};
pub use hosts::{
    ClientSession, Host, HostError, JournaledHost, JournaledSession, LocalHost, LocalSession,
    Session,
};
pub use stages::{
    Record, Run, Stage, agent, check_delays, decision, expect, run_all, run_client,
    run_client_transcripts, run_matching, second_starts, waits,
};
pub use workers::{AgentFolder, Came, Desk, InFlight, worker_variables};
pub use worlds::{Attempt, Ending, Gate, Person, ScriptedModel, SentTools, World, executor_at};
