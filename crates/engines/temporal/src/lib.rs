#![doc = include_str!("../README.md")]

mod activities;
mod client;
mod conversation;
mod door;
mod replay;
mod state;
mod wire;
mod worker;
mod workflow;

pub use client::AgentClient;
pub use door::durable_context::TemporalDurableContext;
pub use replay::{Replay, ReplayError};
pub use state::{
    agent_host::AgentHost,
    registered::SearchAttributes,
    segments::{HISTORY_LIMIT_BYTES, HISTORY_LIMIT_EVENTS},
};
pub use wire::{
    agent_run::AgentRun,
    history_input::HistoryInput,
    names::{AGENT_WORKFLOW, DEFAULT_TASK_QUEUE},
};
pub use worker::{
    agent_worker::{AgentWorker, AgentWorkerBuilder},
    health::{NoMetrics, WorkerHealth},
    versioning::Versioning,
    worker_error::WorkerError,
};
pub use workflow::agent_workflow::AgentWorkflow;
