//! The door: steps as activities, deadlines as timers, signals from the workflow's state.

pub(crate) mod continue_as_new;
pub(crate) mod durable_context;
mod others;
pub(crate) mod place;
mod room;
mod running;
pub(crate) mod steps;
