//! The door: attempts beside the run, awaited by journaled waits.

pub(crate) mod attachment;
pub(crate) mod beginning;
pub(crate) mod cancellation;
pub(crate) mod carried;
pub(crate) mod child_ends;
pub(crate) mod durable_context;
pub(crate) mod ledger_writer;
pub(crate) mod mailbox;
mod others;
pub(crate) mod record;
pub(crate) mod segment;
pub(crate) mod sink_replay_filter;
pub(crate) mod steps;
pub(crate) mod waits;
