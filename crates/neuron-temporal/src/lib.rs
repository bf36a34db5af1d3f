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
//! use neuron_types::{DurableError, RunInput, RunOutput};
//!
//! struct Agent;
//!
//! impl AgentWorkflow for Agent {
//!     const NAME: &'static str = "agent";
//!
//!     async fn run(
//!         door: TemporalDurableContext<Self>,
//!         input: RunInput,
//!     ) -> Result<RunOutput, DurableError> {
//!         neuron_workflows::agent(door, input).await
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
//! # How a history grows
//!
//! With the conversation, not with its square: a model activity is told how many leading messages it knows
//! already and the messages after them. A worker keeps a bounded cache of conversations; where it has none,
//! the activity reads its own run's history, which holds every part. A checksum in the input proves that
//! the conversation that is put together is the one that the loop stated.

mod activities;
mod attempt;
mod board;
mod client;
mod client_error;
mod decision;
mod digest;
mod door;
mod executors;
mod export;
mod failure;
mod history;
mod host;
mod line;
mod messages;
mod options;
mod payload;
mod replay;
mod transcript;
mod transcript_cache;
mod worker;

pub use client::{AgentClient, ListedRun};
pub use client_error::ClientError;
pub use door::TemporalDurableContext;
pub use executors::Executors;
pub use host::{AgentHost, AgentRun, AgentWorkflow};
pub use replay::{Replay, ReplayError};
pub use worker::{AgentWorker, AgentWorkerBuilder, WorkerError};

/// The name of the workflow that runs one agent to completion.
pub const AGENT_WORKFLOW: &str = "agent";

/// The task queue where nothing else is said.
pub const DEFAULT_TASK_QUEUE: &str = "neuron";
