//! The sessions of a home directory, beside its journal.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use neuron_executor::{SessionTaker, Sessions};
use neuron_types::{Conversation, FailureKind, StepFailure, WasmBoxedFuture, with_causes};

use crate::{
    Journal, LocalClient,
    sessions::{manager::SessionManager, sqlite::SqliteSessionStorage, stored::StoredSessions},
};

/// The database of sessions in a home directory.
const SESSIONS: &str = "sessions.db";

impl SessionManager {
    /// Returns the path of the sessions of a home directory: beside its journal.
    #[must_use]
    pub fn path_in(home: &Path) -> PathBuf {
        home.join(SESSIONS)
    }
}

/// The sessions beside a journal, which are opened when a run needs one.
#[derive(Debug)]
pub(crate) struct HomeSessions {
    journal: Journal,
}

impl HomeSessions {
    pub(crate) const fn of(journal: Journal) -> Self {
        Self { journal }
    }
}

impl Sessions for HomeSessions {
    fn take<'a>(
        &'a self,
        taker: SessionTaker<'a>,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StepFailure>> {
        Box::pin(async move {
            let path = SessionManager::path_in(self.journal.home());
            let opened = SqliteSessionStorage::open(path).await;
            let storage = opened
                .map_err(|error| StepFailure::new(FailureKind::Unavailable, with_causes(&error)))?;
            let client = Arc::new(LocalClient::from(self.journal.clone()));
            let sessions = StoredSessions::new(SessionManager::new(storage), client);
            sessions.take(taker).await
        })
    }
}
