//! The decisions of a run, without I/O.

pub(crate) mod action;
pub(crate) mod agent_machine;
pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod boundary;
pub(crate) mod budget;
mod call;
mod calls;
pub(crate) mod context;
pub(crate) mod decisions;
mod edited;
mod guards;
mod halts;
mod handoffs;
mod in_flight;
mod inquiries;
pub(crate) mod later;
mod leases;
mod order;
pub(crate) mod outcomes;
mod phase;
mod pools;
mod previews;
pub(crate) mod tickets;
mod time;
mod tree;
mod upgrades;
