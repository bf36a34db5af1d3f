//! Runs agents as Temporal workflows: the door, its activities, the workflow host and the client.
//!
//! - [`TemporalDurableContext`] is the door: model calls and tool calls are activities, waits are timers,
//!   signals are queued in the workflow's state.
//! - [`AgentWorkflow`] names a workflow function that is generic over the door; [`AgentWorker`] serves it.
//! - [`AgentClient`] starts runs, follows them and reaches into them.
//!
//! A worker for one workflow:
//!
//! ```no_run
//! use neuron_runtime::Executor;
//! use neuron_temporal::{
//!     AgentClient, AgentWorker, AgentWorkflow, Executors, TemporalDurableContext,
//! };
//! use neuron_types::{DurableError, RunOutput, RunStart};
//!
//! struct Agent;
//!
//! impl AgentWorkflow for Agent {
//!     const NAME: &'static str = "agent";
//!
//!     async fn run(
//!         door: TemporalDurableContext<Self>,
//!         start: RunStart,
//!     ) -> Result<RunOutput, DurableError> {
//!         neuron_workflows::agent(door, start).await
//!     }
//! }
//!
//! # async fn serve(executor: Executor) -> Result<(), Box<dyn std::error::Error>> {
//! let client = AgentClient::connect().await?;
//! let mut worker = AgentWorker::builder(&client, Executors::single(executor))
//!     .task_queue("neuron")
//!     .workflow::<Agent>()
//!     .build()?;
//! worker.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What reaches a run from outside
//!
//! | Temporal | name | payload |
//! | --- | --- | --- |
//! | update | `approve`, `deny` | a decision without its verdict: `ticket`, `digest`, and if wanted `args`, `comment`, `approver` |
//! | update | `send` | `{"text": "…"}` |
//! | update | `cancel` | `{"reason": "…"}` or nothing |
//! | signal | `decision` | a [`Decision`](neuron_types::Decision); one that fits no open ticket is refused with an event |
//! | signal | `user_message`, `cancel` | as the updates |
//! | signal | any other name | any JSON, for workflows that wait for it |
//! | query | `status`, `events`, `transcript` | none |
//!
//! # What lists of runs can be filtered by
//!
//! The search attributes `NeuronAgent` and `NeuronState` (Keyword) and `NeuronCostUsd` (Double), if the worker
//! finds all three on its namespace when it starts to run. A history keeps to what it began with, whatever
//! worker goes on with it.
//!
//! # How a run goes on in a fresh history
//!
//! A run whose history became long, by the server's judgement or by
//! [a mark of the worker](AgentWorkerBuilder::roll_over_after), continues as new between two steps: its state,
//! its status, signals that nobody has taken and the number of its next event go along. The decision depends on
//! the worker's settings and on what the worker has seen, so it is made only where something happens for the
//! first time, and a version marker in the history tells replays of it. [`AgentClient`] shows one run: it
//! follows the chain of histories, and asks each for its own events. The queries `events_after` and
//! `transcript_after` answer in parts, with how much is known already as their argument; `events` and
//! `transcript` answer with those of the newest history at once, which Temporal refuses beyond 2 MB.
//!
//! # How a history grows
//!
//! With the conversation, not with its square: a model activity is told how many leading messages it knows
//! already and the messages after them. A worker keeps a bounded cache of conversations; where it has none,
//! the activity reads its own run's history, which holds every part. A checksum in the input proves that
//! the conversation that is put together is the one that the loop stated.

mod activities;
mod attempt;
mod board;
mod carried;
mod client;
mod client_error;
mod decision;
mod digest;
mod door;
mod executors;
mod export;
mod failure;
mod histories;
mod history;
mod host;
mod line;
mod messages;
mod options;
mod pages;
mod parts;
mod payload;
mod queries;
mod replay;
mod roll_over;
mod search_attributes;
mod size;
mod telling;
mod transcript;
mod transcript_cache;
mod updates;
mod worker;

pub use carried::HistoryInput;
pub use client::{AgentClient, ListedRun};
pub use client_error::ClientError;
pub use door::TemporalDurableContext;
pub use executors::Executors;
pub use host::{AgentHost, AgentRun, AgentWorkflow};
pub use replay::{Replay, ReplayError};
pub use worker::{AgentWorker, AgentWorkerBuilder, WorkerError};

/// The name of the workflow that runs one agent to completion.
pub const AGENT_WORKFLOW: &str = "agent";

/// How many events Temporal takes of one history where its server is not configured otherwise.
pub const HISTORY_LIMIT_EVENTS: usize = 51_200;

/// How many bytes Temporal takes of one history where its server is not configured otherwise.
pub const HISTORY_LIMIT_BYTES: usize = 50 * 1024 * 1024;

/// The task queue where nothing else is said.
pub const DEFAULT_TASK_QUEUE: &str = "neuron";
