//! The memory door: nothing survives the process.

pub(crate) mod durable_context;
pub(crate) mod handle;
mod nest;

pub use self::{
    durable_context::{LocalDurableContext, MemoryWorkflow},
    handle::LocalHandle,
};
