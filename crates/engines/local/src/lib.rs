#![doc = include_str!("../README.md")]

mod agent;
mod flight;
mod journal;
mod memory;

pub use agent::{AgentEvent, LocalAgent};
pub use journal::{
    Interrupt, Journal, JournalError, JournalOptions, JournaledContext, LocalClient, ParkPolicy,
    prepare_home,
};
pub use memory::{LocalDurableContext, LocalHandle};
