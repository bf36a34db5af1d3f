//! The door: steps as activities, deadlines as timers, signals from the workflow's state.

pub(crate) mod begun;
pub(crate) mod continue_as_new;
pub(crate) mod definition;
pub(crate) mod durable_context;
pub(crate) mod in_flight;
pub(crate) mod input;
pub(crate) mod place;
pub(crate) mod steps;
