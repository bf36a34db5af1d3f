#![doc = include_str!("../README.md")]

mod agents;
mod duration;
mod environment;
mod error;
mod interruption;
mod logging;
mod program;
#[cfg(feature = "restate")]
pub mod restate;
mod sessions;
mod settings;
mod telling;
#[cfg(feature = "temporal")]
pub mod temporal;
mod waiting;

pub use agents::ServedAgents;
pub use duration::duration;
pub use environment::{parse, parse_from, variable};
pub use error::WorkerError;
pub use interruption::Interruption;
pub use neuron_engine::{Health, Life, serve_health};
pub use neuron_sandbox::dispatch;
pub use program::{Stop, listen, run, say};
pub use settings::{LogFormat, Settings};
pub use telling::Telling;
