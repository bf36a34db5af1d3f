#![doc = include_str!("../README.md")]

mod agent;
mod flight;
mod journal;
mod memory;
mod worker;

pub use agent::{AgentEvent, LocalAgent};
pub use journal::{
    Interrupt, Journal, JournalError, JournalOptions, JournaledContext, LocalClient, ParkPolicy,
    RunClaim, prepare_home,
};
pub use memory::{LocalDurableContext, LocalHandle};
pub use worker::{
    event::WorkerEvent,
    execution::LocalWorkflow,
    local_worker::{LocalWorker, LocalWorkerBuilder},
    source::{ExecutorSource, NotServed, RunExecutor, WaitingRun},
};
