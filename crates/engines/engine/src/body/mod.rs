//! The bodies that are sent to runs, in the shapes that every engine takes.

mod agent_signal;
mod bad_signal;
mod cancel_body;
mod decision_body;

pub use self::{
    agent_signal::AgentSignal, bad_signal::BadSignal, cancel_body::CancelBody,
    decision_body::DecisionBody,
};
