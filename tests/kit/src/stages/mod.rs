//! The tools for writing scenarios, and the macros that make tests of them.

mod clients;
mod conformance;
pub(crate) mod record;
pub mod run_client;
pub mod run_client_transcripts;
mod run_lists;
pub mod second_starts;
pub(crate) mod stage;

pub use self::{
    conformance::{run_all, run_matching},
    record::{Record, check_delays, expect, waits},
    stage::{Run, Stage, agent, decision},
};
