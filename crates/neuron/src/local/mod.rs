//! Runs in this process: in memory, or in a journal, where they survive the process.

mod below;
mod execution;
mod fan;
mod home;
mod steps;

pub(crate) use execution::{Execution, Watched};
pub use home::{Local, Recovered};
pub use steps::Steps;
