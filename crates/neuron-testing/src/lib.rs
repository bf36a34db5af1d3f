//! Tests for doors: a world that does as it is told, scenarios that every engine passes, and the engines.
//!
//! | You want to | Use |
//! | --- | --- |
//! | show that a door does what the others do | [`Host`], [`conformance!`], [`run_all`] |
//! | have a model and tools that follow a script and remember what was asked of them | [`World`] |
//! | have a model and tools of closures on a door of this process | [`NotedModel`], [`NotedTool`], [`noted_agent`] |
//! | write a scenario of your own | [`Stage`], [`Run`], [`Record`] |
//! | have a Temporal or Restate server for a test | [`EngineServer`] |
//! | have a worker that can be killed | [`Process`], [`World::address`], [`executor_at`] |
//! | have a model that streams, and see what a sink is told | [`StreamingModel`], [`Watcher`], [`BrokenOffAnswer`] |
//! | have many runs at once on one worker | [`Crowd`] |
//! | run a program on an agent file | [`AgentFolder`], [`Program`] |
//! | have an MCP server for a test | [`mcp_program`], [`EverythingServer`], [`HOSTILE_SERVER`], [`StubbornServer`] |
//!
//! # The conformance kit
//!
//! A scenario states an agent, what its model answers, and what reaches the run from outside. It asserts on
//! the events, the output, the conversation that the model saw, and every attempt at a model or tool call.
//! The [`Record`] of most runs is compared to a file in `expected/` beside this crate's manifest, the same
//! for every host: so engines that pass are equal but for run ids and the engine's name.
//!
//! There are three groups. [`conformance!`] makes a test of each scenario; `run_all` runs them in one test,
//! for hosts that are dear to start.
//!
//! | Group | For hosts |
//! | --- | --- |
//! | `memory` | all |
//! | `durable` | whose runs survive the process that executes them ([`Session::kill`]) |
//! | `engine` | whose engine is a process of its own ([`Session::restart_engine`]) |
//!
//! Hosts whose runs go on in fresh histories ([`Host::ROLLS_OVER`]) are tried with a roll-over after every
//! step as well: that must change nothing.
//!
//! ```no_run
//! # mod tests {
//! neuron_testing::conformance!(memory: neuron_testing::LocalHost::default());
//! # }
//! ```
//!
//! After a change that is meant to change what runs tell, run the tests of this crate with
//! `INSTA_UPDATE=always` and read the difference in `expected/`.
//!
//! # The world
//!
//! A [`World`] stays while doors and processes come and go. Its model answers from scripts, in the form that
//! [`neuron_runtime::script`] describes; its tools do what their arguments say ([`World`] lists them). A
//! [`Gate`] holds a call as long as the test wants. A worker in another process reaches the world over TCP,
//! so that nothing is lost when it is killed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod abridge;
mod agent_folder;
mod asking;
mod attempt;
mod broken_off;
mod conformance;
mod crowd;
#[cfg(feature = "docker")]
mod docker;
mod engine;
mod engine_error;
mod engine_settings;
mod gate;
mod hook;
mod host;
mod journaled_host;
mod launcher;
mod local_host;
mod mcp_servers;
mod model;
mod native;
mod noted;
mod noted_model;
mod noted_tool;
mod process;
mod record;
mod remote;
pub mod scenarios;
mod stage;
mod streaming;
mod stubborn_server;
mod tools;
mod world;

pub use agent_folder::{AgentFolder, Program, program_in};
pub use asking::{free_address, http_get, until};
pub use attempt::{Attempt, Ending};
pub use broken_off::BrokenOffAnswer;
pub use conformance::{run_all, run_matching};
pub use crowd::Crowd;
pub use engine::EngineServer;
pub use engine_error::EngineError;
pub use gate::Gate;
pub use host::{Host, HostError, Session};
pub use journaled_host::{JournaledHost, JournaledSession};
pub use launcher::{Addresses, Engine, Launcher};
pub use local_host::{LocalHost, LocalSession};
pub use mcp_servers::{EverythingServer, HOSTILE_SERVER, mcp_program};
pub use model::ScriptedModel;
pub use noted::{input_of, noted_agent, run_locally};
pub use noted_model::NotedModel;
pub use noted_tool::NotedTool;
pub use process::{Process, have_ended, is_running};
pub use record::{Record, check_delays, expect};
pub use remote::executor_at;
pub use stage::{DEADLINE, Run, Stage, agent, decision};
pub use streaming::{Pieces, StreamingModel, Watcher};
pub use stubborn_server::StubbornServer;
pub use world::World;
