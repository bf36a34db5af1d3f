#![doc = include_str!("../README.md")]

mod flight;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod home;
mod journal;
mod memory;
mod sessions;
mod worker;

pub use home::{
    paths::{home_files, home_files_to_look_at},
    store::{HomeStore, home_has_files},
};
pub use journal::{
    Busy, IdleLooks, Interrupt, Journal, JournalError, JournalOptions, JournaledContext,
    LocalClient, LocalWorkflow, ParkPolicy, RunClaim, prepare_home,
};
pub use memory::{LocalDurableContext, LocalHandle, MemoryWorkflow};
pub use sessions::{
    conversation::conversation_of,
    error::{SessionError, StorageError},
    files::FileSessionStorage,
    manager::SessionManager,
    memory::InMemorySessionStorage,
    session::{Session, SessionRun, SessionState, SessionSummary},
    sqlite::SqliteSessionStorage,
    storage::SessionStorage,
    stored::StoredSessions,
};
pub use worker::{
    counts::WorkerCounts,
    event::WorkerEvent,
    local_worker::{LocalWorker, LocalWorkerBuilder},
    source::{ExecutorSource, NotServed, RunExecutor, WaitingRun},
};
