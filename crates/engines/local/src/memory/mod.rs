//! The memory door: nothing survives the process.

mod clock;
pub(crate) mod durable_context;
pub(crate) mod handle;
mod running;

pub use self::{durable_context::LocalDurableContext, handle::LocalHandle};
