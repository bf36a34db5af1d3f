//! The sessions of a worker: given to runs that name one.

use std::{fmt, sync::Arc};

use chrono::TimeDelta;
use neuron_engine::{RunClient, RunHandle};
use neuron_executor::{SessionTaker, Sessions};
use neuron_types::{
    Conversation, FailureKind, Place, RunId, SessionName, StepFailure, WasmBoxedFuture, hex,
    with_causes,
};
use sha2::{Digest as _, Sha256};

use crate::sessions::{
    error::SessionError, manager::SessionManager, session::SessionRun, settling::ATTEMPTS,
};

/// The most bytes of a conversation that is given to a run, as JSON: it is the result of the step by which the run
/// begins, and Temporal takes 2 MB for that, including the agent's definition.
const MOST_BYTES: usize = 1024 * 1024;

/// The longest name of a tenant, in its escaped form, that is not hashed in the name of a session.
const LONGEST_TENANT: usize = 48;

/// The largest difference between the clocks of an engine and of its workers.
const CLOCKS: TimeDelta = TimeDelta::seconds(60);

/// Gives stored conversations to the runs of one engine that [name one](neuron_types::RunRequest::session), when they
/// begin. Cheap to clone.
///
/// The run before is taken in then, if it is over: no process has to be alive when it ends, and a run that was killed
/// is taken in as far as it came. A run that is not over keeps its session, and the other one fails with a sentence
/// that names it.
///
/// The sessions of a tenant are its own: its `notes` is stored as `tenant-acme..notes`. In the tenant's name every byte
/// that is no digit and no small letter is written as `_` and its value in hexadecimal, and a long name by its hash, as
/// `hashed-…..notes`.
///
/// A conversation of more than 1 MiB is given to no run.
#[derive(Clone)]
pub struct StoredSessions {
    sessions: SessionManager,
    client: Arc<dyn RunClient>,
}

impl StoredSessions {
    /// Returns the giver of these sessions to the runs that this client reaches.
    #[must_use]
    pub const fn new(sessions: SessionManager, client: Arc<dyn RunClient>) -> Self {
        Self { sessions, client }
    }

    async fn hand_out(&self, taker: SessionTaker<'_>) -> Result<Conversation, SessionError> {
        let id = stored_as(taker.session, taker.tenant);
        let run = SessionRun::of(&*self.client, taker.run_id);
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.hand_over(&id, &run, taker).await {
                Err(error) if is_passing(&error) && attempts < ATTEMPTS => {}
                handed => return handed,
            }
        }
    }

    async fn hand_over(
        &self,
        id: &str,
        run: &SessionRun,
        taker: SessionTaker<'_>,
    ) -> Result<Conversation, SessionError> {
        let mut session = self.sessions.open(id).await?;
        if let Some(by) = session.run.take() {
            self.check_holder(id, &by, taker).await?;
            // A run that has it asks again if its attempt was lost.
            if !by.is_same_run(run) {
                let before = RunHandle::new(Arc::clone(&self.client), by.run_id.clone());
                self.sessions.settle(id, &by, &before).await?;
                session = self.sessions.open(id).await?;
            }
        }
        let bytes = serde_json::to_vec(&session.messages).map_or(usize::MAX, |json| json.len());
        if bytes > MOST_BYTES {
            return Err(SessionError::TooLarge {
                id: id.to_owned(),
                bytes,
                most: MOST_BYTES,
            });
        }
        Ok(self.sessions.take(id, run.clone()).await?.messages.into())
    }

    /// Checks that the run with that id on the engine is the one that took the session up. The engine may have removed
    /// that run, and its id may belong to another one: of another owner, or the one that wants the session.
    async fn check_holder(
        &self,
        id: &str,
        by: &SessionRun,
        taker: SessionTaker<'_>,
    ) -> Result<(), SessionError> {
        let status = match self.client.status(&by.run_id).await {
            Ok(status) => status,
            // `settle` returns that error.
            Err(error) if error.is_unknown_run() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let is_later = status.started_at > by.since + CLOCKS;
        if is_later || status.tenant.as_deref() != taker.tenant {
            return Err(SessionError::Lost {
                id: id.to_owned(),
                by: Box::new(by.clone()),
            });
        }
        Ok(())
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

/// Returns the name under which a session is stored. No session without a tenant has this name: theirs have no two dots
/// in a row.
fn stored_as(name: &SessionName, tenant: Option<&str>) -> String {
    let Some(tenant) = tenant else {
        return name.to_string();
    };
    // File names may be case-insensitive.
    let escaped = tenant.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("_{other:02x}"),
    });
    let escaped = escaped.collect::<String>();
    match escaped.len() <= LONGEST_TENANT {
        true => format!("tenant-{escaped}..{name}"),
        false => {
            let hash = hex(Sha256::digest(tenant).get(..20).unwrap_or_default());
            format!("hashed-{hash}..{name}")
        }
    }
}

/// Returns whether the session was changed by another caller meanwhile, or taken from a run.
const fn is_passing(error: &SessionError) -> bool {
    error.is_conflict()
        || matches!(
            error,
            SessionError::NotWith { .. } | SessionError::Gone { .. }
        )
}

fn failed(error: &SessionError) -> StepFailure {
    let kind = match error {
        SessionError::Engine(error) if error.is_transient() => FailureKind::Unavailable,
        SessionError::Storage(error) if error.is_transient() => FailureKind::Unavailable,
        _ => FailureKind::InvalidRequest,
    };
    StepFailure::new(kind, with_causes(error))
}
