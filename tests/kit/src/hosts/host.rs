//! The host of a door under test: a place where runs are executed.

use std::{error::Error, fmt, future::Future};

use neuron_types::{
    Decision, Place, RecordedEvent, RunId, RunOutput, RunRequest, RunStatus, UserMessage,
    with_causes,
};
use serde_json::Value;

use crate::World;

/// Executes runs of agents and of the workflow [`Desk`](crate::Desk) through one kind of door.
pub trait Host: Sized {
    /// The host's sessions: see [`Session`].
    type Session: Session;

    /// Whether its runs survive the process that executes them: the scenarios may [`Session::kill`].
    const SURVIVES: bool;

    /// Whether its engine is a process of its own: the scenarios may [`Session::restart_engine`].
    const HAS_ENGINE: bool;

    /// Whether its long runs continue as new: the scenarios may ask for that with
    /// [`rolling_over_after`](Self::rolling_over_after).
    const ROLLS_OVER: bool;

    /// Whether it gives up a step whose workers were killed ten times in a row. Default is `true`.
    const COUNTS_LOST_WORKERS: bool = true;

    /// Returns this host, but a run continues as new between two steps as soon as its segment has this many of the
    /// engine's own events, entries or operations.
    ///
    /// Hosts that do not continue as new return themselves.
    #[must_use]
    fn rolling_over_after(&self, events: u64) -> Self;

    /// Opens a session, in which nothing is executed yet.
    ///
    /// # Errors
    ///
    /// The host cannot open it; the scenario fails with the error.
    fn open(&self, world: &World) -> impl Future<Output = Result<Self::Session, HostError>>;
}

/// One scenario's place on a host: where it submits runs, sends them signals and reads their results.
///
/// Dropping it ends what it started.
///
/// An executor that acts on the scenario's [`World`] makes the calls: [`World::executor`] in this process,
/// [`executor_at`](crate::executor_at) in a worker's.
pub trait Session {
    /// Starts executing: the runs that were submitted, those that were in progress when the executing side was killed,
    /// and every run from now on.
    fn execute(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Ends the executing side as `SIGKILL` would, and returns when it is gone. Runs can still be submitted and
    /// signalled.
    ///
    /// Hosts that do not survive return an error.
    fn kill(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Kills the engine with `SIGKILL`, starts it again on the same data, and returns when it answers.
    ///
    /// Hosts without an engine return an error.
    fn restart_engine(&self) -> impl Future<Output = Result<(), HostError>>;

    /// Returns where the session's runs are, as the executing side names it.
    fn place(&self) -> Place;

    /// Submits a run, which is executed when there is an executing side.
    fn submit(
        &self,
        run_id: &RunId,
        request: RunRequest,
    ) -> impl Future<Output = Result<(), HostError>>;

    /// Answers a ticket, with a check if the host has one.
    ///
    /// # Errors
    ///
    /// [`HostError::Refused`] if the host rejects a decision that fits no open ticket. Other hosts pass the decision to
    /// the run, which rejects it.
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

    /// Sends any signal, in a way that needs no executing side.
    ///
    /// # Errors
    ///
    /// [`HostError::Refused`] if the host accepts no signal for a run whose execution has not begun.
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

    /// Returns the run's status. Only called while there is an executing side; an error means "not yet".
    fn status(&self, run_id: &RunId) -> impl Future<Output = Result<RunStatus, HostError>>;

    /// Returns the run's events so far. Only called while there is an executing side.
    fn events(&self, run_id: &RunId)
    -> impl Future<Output = Result<Vec<RecordedEvent>, HostError>>;

    /// Returns how many segments the run has had so far; 1 if it never continued as new.
    fn histories(&self, run_id: &RunId) -> impl Future<Output = Result<u64, HostError>>;

    /// Waits for the run's end.
    fn wait(&self, run_id: &RunId) -> impl Future<Output = Result<RunOutput, HostError>>;
}

/// The error of a host.
#[derive(Debug)]
pub enum HostError {
    /// The host rejects the request, and the run is not affected.
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
