//! A worker that serves agents, whatever the engine.

mod beside;
mod builder;
mod engine_kind;
mod handle;
#[cfg(feature = "local")]
mod local;
mod shared;
mod worker_failure;

#[cfg(feature = "local")]
pub(crate) use builder::HOME;
pub(crate) use builder::QUEUE;
pub use builder::WorkerBuilder;
pub use engine_kind::{EngineKind, UnknownEngine};
pub use handle::Worker;
#[cfg(any(feature = "restate", feature = "temporal"))]
pub(crate) use shared::Shared;
pub use worker_failure::WorkerFailure;
