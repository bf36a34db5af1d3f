//! What a door needs to be tested: a place where runs are executed.

use std::{error::Error, fmt, future::Future};

use neuron_types::{
    Decision, Place, RecordedEvent, RunId, RunOutput, RunRequest, RunStatus, UserMessage,
    with_causes,
};
use serde_json::Value;

use crate::World;

/// Executes runs of [`neuron_workflows::agent`] through one kind of door.
pub trait Host: Sized {
    /// See [`Session`].
    type Session: Session;

    /// Its runs survive the process that executes them: the scenarios may [`Session::kill`].
    const SURVIVES: bool;

    /// Its engine is a process of its own: the scenarios may [`Session::restart_engine`].
    const HAS_ENGINE: bool;

    /// Its runs go on in fresh histories when one is long: the scenarios may ask for it with
    /// [`rolling_over_after`](Self::rolling_over_after).
    const ROLLS_OVER: bool;

    /// It gives up a step whose workers were killed ten times in a row. Default is that it does.
    const COUNTS_LOST_WORKERS: bool = true;

    /// This host, but a run goes on in a fresh history between two steps as soon as one has so many of the
    /// engine's own events, entries or operations.
    ///
    /// Hosts that do not roll over answer with themselves.
    #[must_use]
    fn rolling_over_after(&self, events: u64) -> Self;

    /// Opens a session, in which nothing is executed yet.
    ///
    /// # Errors
    ///
    /// What keeps the host from it; the scenario fails with that.
    fn open(&self, world: &World) -> impl Future<Output = Result<Self::Session, HostError>>;
}

/// One scenario's place on a host: where it submits runs, reaches into them and sees what came of them.
///
/// Dropping it ends what it started.
///
/// An executor that acts on the scenario's [`World`] makes the calls: [`World::executor`] in this process,
/// [`executor_at`](crate::executor_at) in a worker's.
pub trait Session {
    /// Starts executing: the runs that were submitted, those that were under way when the executing side was
    /// killed, and every run from now on.
    fn execute(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Ends the executing side as `SIGKILL` would, and returns when it is gone. Runs can still be submitted
    /// and signalled.
    ///
    /// Hosts that do not survive answer with an error.
    fn kill(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Kills the engine with `SIGKILL`, starts it again on the same data, and returns when it answers.
    ///
    /// Hosts without an engine answer with an error.
    fn restart_engine(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Where the session's runs are, as the executing side names it.
    fn place(&self) -> Place;

    /// Makes a run, which is executed when there is an executing side.
    fn submit(
        &self,
        run_id: &RunId,
        request: RunRequest,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Answers a ticket, the way that is checked where the host has one.
    ///
    /// # Errors
    ///
    /// [`HostError::Refused`] if the host refuses a decision that fits no open ticket. A host that does not
    /// hands it to the run, which refuses it.
    fn decide(
        &self,
        run_id: &RunId,
        decision: &Decision,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Queues a message.
    fn send(
        &self,
        run_id: &RunId,
        message: &UserMessage,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Sends any signal, by a way that needs no executing side.
    ///
    /// # Errors
    ///
    /// [`HostError::Refused`] if the host takes none for a run that nobody has begun to execute.
    fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Cancels the run.
    fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Where the run stands. Only asked while there is an executing side; an error is taken for "not yet".
    fn status(&self, run_id: &RunId) -> impl Future<Output = Result<RunStatus, HostError>>;

    /// The run's events so far. Only asked while there is an executing side.
    fn events(&self, run_id: &RunId)
    -> impl Future<Output = Result<Vec<RecordedEvent>, HostError>>;

    /// In how many histories the run was executed so far; 1 is one that never rolled over.
    fn histories(&self, run_id: &RunId) -> impl Future<Output = Result<u64, HostError>>;

    /// Waits for the run's end.
    fn wait(&self, run_id: &RunId) -> impl Future<Output = Result<RunOutput, HostError>>;
}

/// What a host could not do.
#[derive(Debug)]
pub enum HostError {
    /// It refuses what reaches into a run, and the run is none the worse.
    Refused(String),
    /// Anything else.
    Failed(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => write!(f, "refused: {reason}"),
            Self::Failed(error) => f.write_str(&with_causes(&**error)),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for HostError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
