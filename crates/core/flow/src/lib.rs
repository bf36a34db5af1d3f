#![doc = include_str!("../README.md")]

mod adapter;
mod again;
mod fact;
mod flow;
mod jitter;
mod refusal;
mod retry;
mod step_life;

pub use adapter::{Adapter, Asked, leave, next, poll, start};
pub use again::{Again, RetryNotice};
pub use fact::{AttemptKey, Fact};
pub use flow::{Answer, Attempt, BEHIND_ALL, Flow, Left, Shown, Then, Timer};
pub use jitter::Jitter;
pub use refusal::{given_up, nothing_to_wait_for, still_in_flight};
pub use retry::{MOST_LOST, cancelled_between, look_again, lost_write, next_delay};
pub use step_life::{StepLife, StepTerms};
