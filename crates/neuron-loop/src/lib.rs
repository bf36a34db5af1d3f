//! The agent loop, written once.
//!
//! Two parts, each usable alone:
//!
//! - [`AgentMachine`] decides. It is a plain state machine: no I/O, no clock, no `async`. It can be
//!   serialised between any two steps and go on in another process, and thousands of property tests drive
//!   it without an engine.
//! - [`AgentLoop`] drives. It turns each [`Action`] into a call of the door
//!   ([`DurableContext`](neuron_types::DurableContext)) and feeds back the [`Observation`]. It runs unchanged
//!   locally, as a Temporal workflow and as a Restate service.
//!
//! # A turn
//!
//! ```text
//! TakeMessages ─► Compact ─► CallModel ─► Authorize ─► CallTools ◄─► Wait ─┐
//!      ▲                         │                                         │
//!      │                         └─ no calls ─► TakeMessages ─► Done       │
//!      └───────────────────────────────────────────────────────────────────┘
//! ```
//!
//! - A turn is one model call and the tool calls that it asks for. Calls that need no ticket are made at
//!   once, an approved call when its decision arrives; results reach the model in the order of the calls.
//! - Queued messages are taken up between two turns. A run that would end takes them up first.
//! - Limits are checked before each turn, so they are exceeded by the step in flight at most.
//! - What the model can mend is an error result for the model: unknown tools, bad arguments, failed and
//!   denied calls. A failure with kind `tool_input`, `terminated`, `guardrail` or `internal` ends the run.
//! - Every tool call in the conversation is answered once and in order, also when the run ends early.
//!
//! # Determinism
//!
//! This crate is replayed on durable engines. Clippy's disallowed lists keep clocks, randomness, threads,
//! the environment and hash maps out of it (`clippy.toml` beside `Cargo.toml`).

mod action;
mod answer;
mod approval;
mod batch;
mod boundary;
mod context;
mod driver;
mod machine;
mod step;
mod summary;
mod view;

pub use action::{Action, MachineError, Observation, Shortfall, Spent};
pub use approval::ticket_digest;
pub use driver::AgentLoop;
pub use machine::{AgentMachine, STATE_VERSION};
pub use step::{StepIterator, TurnResult};
