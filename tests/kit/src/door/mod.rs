//! The door, call by call: what [`DurableContext`](neuron_types::DurableContext) promises, as cases that every door has
//! to pass.
//!
//! A case has two halves. The inner one asks the door for one thing after another and reports what it found; it is
//! replayed like any workflow, so all that it has is the door. The outer one stands beside the run: it releases calls,
//! sends signals and cancels. On an engine the inner half is a workflow, [`DoorCase`], and its report is the run's
//! output.

mod asking;
mod batch;
mod cases;
mod door_case;
mod outside;
mod reach;
mod room;
mod trial;
mod verdict;

pub use self::{
    batch::execute_tools,
    cases::CASES,
    door_case::DoorCase,
    outside::Outside,
    reach::Reach,
    room::DoorRoom,
    trial::{all_hold_at, holds_at},
    verdict::Verdict,
};
