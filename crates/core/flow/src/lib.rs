#![doc = include_str!("../README.md")]

mod adapter;
mod again;
mod fact;
mod flow;
mod going;
mod jitter;
mod refusal;
mod retry;
mod said;
mod step_life;

pub use adapter::{Adapter, Asked, leave, next, poll, start};
pub use again::{Again, RetryNotice};
pub use fact::{AttemptKey, Fact};
pub use flow::{BEHIND_ALL, Flow};
pub use jitter::Jitter;
pub use refusal::{given_up, nothing_to_wait_for, still_in_flight};
pub use retry::{MOST_LOST, cancelled_between, look_again, lost_write, next_delay};
pub use said::{Answer, Attempt, Left, Shown, Then, Timer};
pub use step_life::{StepLife, StepTerms};
