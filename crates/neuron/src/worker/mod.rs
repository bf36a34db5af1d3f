//! A worker that serves agents, whatever the engine.

mod beside;
mod builder;
mod engine_kind;
mod handle;
mod local;
mod shared;
mod worker_failure;

pub use builder::WorkerBuilder;
pub(crate) use builder::{HOME, QUEUE};
pub use engine_kind::{EngineKind, UnknownEngine};
pub use handle::Worker;
pub(crate) use shared::Shared;
pub use worker_failure::WorkerFailure;
