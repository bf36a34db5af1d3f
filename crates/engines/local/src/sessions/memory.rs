//! Conversations in memory.

use std::{
    collections::BTreeMap,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use neuron_types::WasmBoxedFuture;

use crate::sessions::{
    error::StorageError,
    session::{Session, SessionSummary},
    storage::{self, SessionStorage, Stored},
};

/// Keeps conversations in memory: they end with the process.
#[derive(Debug, Default)]
pub struct InMemorySessionStorage {
    sessions: Mutex<BTreeMap<String, Session>>,
}

impl InMemorySessionStorage {
    /// Returns a storage without sessions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, session: &Session) -> Result<u64, StorageError> {
        storage::checked(&session.id)?;
        let mut sessions = self.sessions();
        let stored = sessions.get(&session.id).map(Stored::from);
        let next = storage::following(session, stored)?;
        let revision = next.revision;
        sessions.insert(next.id.clone(), next);
        Ok(revision)
    }

    fn get(&self, id: &str) -> Result<Session, StorageError> {
        storage::checked(id)?;
        let found = self.sessions().get(id).cloned();
        found.ok_or_else(|| StorageError::NotFound { id: id.to_owned() })
    }

    fn remove(&self, session: &Session) -> Result<(), StorageError> {
        let id = &session.id;
        storage::checked(id)?;
        let mut sessions = self.sessions();
        let stored = sessions.get(id).map(Stored::from);
        let stored = stored.ok_or_else(|| StorageError::NotFound { id: id.clone() })?;
        storage::unchanged(session, stored)?;
        sessions.remove(id);
        Ok(())
    }

    fn all(&self) -> Vec<SessionSummary> {
        let mut all: Vec<_> = self.sessions().values().map(SessionSummary::from).collect();
        storage::newest_first(&mut all);
        all
    }
}

impl SessionStorage for InMemorySessionStorage {
    fn save<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<u64, StorageError>> {
        Box::pin(ready(self.put(session)))
    }

    fn load<'a>(&'a self, id: &'a str) -> WasmBoxedFuture<'a, Result<Session, StorageError>> {
        Box::pin(ready(self.get(id)))
    }

    fn list(&self) -> WasmBoxedFuture<'_, Result<Vec<SessionSummary>, StorageError>> {
        Box::pin(ready(Ok(self.all())))
    }

    fn delete<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<(), StorageError>> {
        Box::pin(ready(self.remove(session)))
    }
}
