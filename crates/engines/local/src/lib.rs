#![doc = include_str!("../README.md")]

mod flight;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
#[cfg(feature = "journal")]
mod home;
#[cfg(feature = "journal")]
mod journal;
mod memory;
mod owner_files;
mod sessions;
#[cfg(feature = "journal")]
mod worker;

#[cfg(feature = "journal")]
pub use home::{
    paths::{home_files, home_files_to_look_at},
    store::{HomeStore, home_has_files},
};
#[cfg(feature = "journal")]
pub use journal::{
    Busy, IdleLooks, Interrupt, Journal, JournalError, JournalOptions, JournaledContext,
    LocalClient, LocalWorkflow, ParkPolicy, RunClaim, prepare_home,
};
pub use memory::{LocalDurableContext, LocalHandle, MemoryWorkflow};
#[cfg(feature = "journal")]
pub use sessions::sqlite::SqliteSessionStorage;
pub use sessions::{
    conversation::conversation_of,
    error::{SessionError, StorageError},
    files::FileSessionStorage,
    manager::SessionManager,
    memory::InMemorySessionStorage,
    session::{Session, SessionRun, SessionState, SessionSummary},
    storage::SessionStorage,
    stored::StoredSessions,
};
#[cfg(feature = "journal")]
pub use worker::{
    counts::WorkerCounts,
    event::WorkerEvent,
    local_worker::{LocalWorker, LocalWorkerBuilder},
    source::{ExecutorSource, NotServed, RunExecutor, WaitingRun},
};
