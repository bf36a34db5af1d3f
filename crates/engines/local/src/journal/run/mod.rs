//! A run in the hands of its executor.

pub(crate) mod core;
mod failing;
pub(crate) mod known;
pub(crate) mod state;
