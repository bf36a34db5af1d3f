//! Runs in this process: in memory, or in a journal, where they survive the process.

#[cfg(feature = "local")]
mod below;
#[cfg(feature = "local")]
pub(crate) mod directory;
mod execution;
mod fan;
#[cfg(feature = "local")]
mod home;
mod memory;
mod place;
mod steps;

pub(crate) use execution::{Execution, Watched};
#[cfg(feature = "local")]
pub use home::Recovered;
pub use place::Local;
pub use steps::Steps;
