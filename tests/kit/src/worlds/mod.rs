//! The world of a scenario: its model and its tools, what they record, and how a worker reaches them.

mod abridge;
mod acting;
mod attempt;
mod gate;
pub(crate) mod guard;
mod hook;
pub(crate) mod judge;
mod line;
mod model;
mod people;
mod remote;
mod sent_tools;
mod sessions;
pub(crate) mod signing_model;
pub(crate) mod skills;
mod tool_fault;
mod tools;
mod verifier;
mod world;

pub use self::{
    attempt::{Attempt, Ending},
    gate::Gate,
    model::ScriptedModel,
    people::Person,
    remote::executor_at,
    sent_tools::SentTools,
    world::World,
};
