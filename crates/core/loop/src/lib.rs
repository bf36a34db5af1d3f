#![doc = include_str!("../README.md")]

mod driver;
mod machine;

pub use driver::agent_loop::AgentLoop;
pub use driver::step::{StepIterator, TurnResult};
pub use machine::action::{Action, MachineError, Observation, Shortfall};
pub use machine::agent_machine::AgentMachine;
pub use neuron_types::Spent;
