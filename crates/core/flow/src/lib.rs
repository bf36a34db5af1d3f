#![doc = include_str!("../README.md")]

mod again;
mod jitter;
mod retry;
mod step_life;

pub use again::{Again, RetryNotice};
pub use jitter::Jitter;
pub use retry::{MOST_LOST, cancelled_between, look_again, lost_write, next_delay};
pub use step_life::{StepLife, StepTerms};
