//! The sessions of a worker: handed to runs that name one.

use std::{fmt, sync::Arc};

use neuron_engine::{RunClient, RunHandle};
use neuron_executor::{SessionTaker, Sessions};
use neuron_types::{
    Conversation, FailureKind, Place, RunId, SessionName, StepFailure, WasmBoxedFuture, with_causes,
};

use crate::sessions::{
    error::{SessionError, StorageError},
    manager::SessionManager,
    session::SessionRun,
    settling::ATTEMPTS,
};

/// Hands stored conversations to the runs of one engine that [name one](neuron_types::RunRequest::session), when they begin.
/// Cheap to clone.
///
/// The run before is taken in then, if it is over: nothing has to be alive when it ends, and a run that was killed is taken in
/// as far as it came. A run that is not over keeps its session, and the other one fails with a sentence that names it.
///
/// The sessions of a tenant are its own: its `notes` is kept as `tenant-acme..notes`, where characters of the tenant that are
/// no letters and digits are written as `_` and their bytes in hexadecimal.
#[derive(Clone)]
pub struct StoredSessions {
    sessions: SessionManager,
    client: Arc<dyn RunClient>,
}

impl StoredSessions {
    /// Returns what hands these sessions to the runs that this client reaches.
    #[must_use]
    pub const fn new(sessions: SessionManager, client: Arc<dyn RunClient>) -> Self {
        Self { sessions, client }
    }

    async fn hand_out(&self, taker: SessionTaker<'_>) -> Result<Conversation, SessionError> {
        let id = stored_as(taker.session, taker.tenant);
        let run = self.as_taken_by(taker.run_id);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let by = self.sessions.open(&id).await?.run;
            // A run that has it asks again where its attempt was lost.
            if let Some(by) = by.filter(|by| !by.is_same_run(&run)) {
                let before = RunHandle::new(Arc::clone(&self.client), by.run_id.clone());
                let here = self.as_taken_by(&by.run_id);
                self.sessions.settle(&id, &by, &before, &here).await?;
            }
            match self.sessions.take(&id, run.clone()).await {
                Ok(taken) => return Ok(taken.messages.into()),
                Err(error) if error.is_conflict() && attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A run of this engine as it has a session.
    fn as_taken_by(&self, run_id: &RunId) -> SessionRun {
        SessionRun::of(&*self.client, run_id)
    }
}

impl SessionRun {
    /// Returns the run of this id that the client reaches, as it takes a session up now.
    #[must_use]
    pub fn of(client: &dyn RunClient, run_id: &RunId) -> Self {
        let run = Self::new(run_id.clone(), client.engine());
        match client.place() {
            // The sessions are where the runs are, and move with them.
            Place::Local { .. } => run,
            place => run.in_place(place.to_string()),
        }
    }
}

impl Sessions for StoredSessions {
    fn take<'a>(
        &'a self,
        taker: SessionTaker<'a>,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StepFailure>> {
        Box::pin(async move { self.hand_out(taker).await.map_err(|error| failed(&error)) })
    }
}

impl fmt::Debug for StoredSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSessions")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// The name under which a session is kept. No session of nobody has it: those have no two dots in a row.
fn stored_as(name: &SessionName, tenant: Option<&str>) -> String {
    let Some(tenant) = tenant else {
        return name.to_string();
    };
    let escaped = tenant.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("_{other:02x}"),
    });
    format!("tenant-{}..{name}", escaped.collect::<String>())
}

fn failed(error: &SessionError) -> StepFailure {
    let kind = match error {
        SessionError::Engine(error) if error.is_transient() => FailureKind::Unavailable,
        SessionError::Storage(
            StorageError::Conflict { .. }
            | StorageError::File { .. }
            | StorageError::Database { .. }
            | StorageError::ShutDown,
        ) => FailureKind::Unavailable,
        _ => FailureKind::InvalidRequest,
    };
    StepFailure::new(kind, with_causes(error))
}
