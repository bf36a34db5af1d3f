#![doc = include_str!("../README.md")]

mod agent;
pub mod builtin;
mod local;
mod place;
pub mod prelude;
pub mod providers;
mod remote;
#[cfg(feature = "restate")]
pub mod restate;
mod run;
mod runs;
pub mod sessions;
pub mod subagents;
#[cfg(feature = "temporal")]
pub mod temporal;
pub mod turn;
#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
mod worker;
pub mod workflow;

pub use agent::{
    Agent, AgentBuilder, AgentError, AgentOn, AgentTool, AnyAgent, HandoffEntry, Model, Parts,
    Step, SteppedTool, SubAgentEntry, ToolStep,
};
#[cfg(feature = "local")]
pub use local::Recovered;
pub use local::{Local, Steps};
pub use neuron_loop::TurnResult;
pub use neuron_macros::workflow;
pub use place::{Engine, StartFuture};
pub use remote::RemoteAgent;
pub use run::{Finished, Run, RunFailure, RunItem, Started, Ticket};
pub use runs::Runs;
#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
pub use runs::RunsBuilder;
pub use subagents::{AgentResult, SubAgentConfig, SubAgentError, SubAgentManager};
#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
pub use worker::{EngineKind, UnknownEngine, Worker, WorkerBuilder, WorkerFailure};

#[cfg(feature = "approvers")]
pub use neuron_approvers as approvers;
#[cfg(feature = "approvers")]
pub use neuron_approvers::Approvers;
#[cfg(feature = "agent-file")]
pub use neuron_config as config;
pub use neuron_context as context;
pub use neuron_engine as engine;
pub use neuron_executor as executor;
pub use neuron_guards as guards;
#[cfg(feature = "mcp")]
pub use neuron_mcp as mcp;
#[cfg(feature = "sandbox")]
pub use neuron_sandbox as sandbox;
#[cfg(feature = "telemetry")]
pub use neuron_telemetry as telemetry;
pub use neuron_tool as tool;
pub use neuron_tool::neuron_tool;
pub use neuron_types as types;
pub use neuron_workflows as workflows;
