//! A run in the hands of its executor.

pub(crate) mod core;
mod deliver;
mod failing;
pub(crate) mod losses;
pub(crate) mod patience;
mod segment_start;
pub(crate) mod state;
pub(crate) mod take_signal;
pub(crate) mod unwritten;
pub(crate) mod wanted;
pub(crate) mod watcher;
