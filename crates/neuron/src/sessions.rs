//! Stored conversations that runs continue, one after the other.
//!
//! A run [names](crate::types::RunRequest::session) a session, and its worker gives it what was said there before. Runs
//! that a home directory keeps have the sessions beside them; a worker of an engine is given [`StoredSessions`].

#[cfg(feature = "local")]
pub use neuron_local::SqliteSessionStorage;
pub use neuron_local::{
    FileSessionStorage, InMemorySessionStorage, Session, SessionError, SessionManager, SessionRun,
    SessionState, SessionStorage, SessionSummary, StorageError, StoredSessions,
};
pub use neuron_types::{InvalidSessionName, SessionName};
