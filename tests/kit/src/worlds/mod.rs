//! The world of a scenario: its model and its tools, what they remember, and how a worker reaches them.

mod abridge;
mod acting;
mod attempt;
mod gate;
mod hook;
mod line;
mod model;
mod remote;
mod tool_fault;
mod tools;
mod world;

pub use self::{
    attempt::{Attempt, Ending},
    gate::Gate,
    model::ScriptedModel,
    remote::executor_at,
    world::World,
};
