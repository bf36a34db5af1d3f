//! What was said and done in a run, put together from its events and its steps.

mod align;
mod doubted_answer;
mod fold;
mod known_steps;

pub use known_steps::{KnownSteps, SegmentBegin};
