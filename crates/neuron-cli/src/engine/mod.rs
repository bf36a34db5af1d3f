//! What runs the agents: every command that looks at runs or reaches into them is written once, for all
//! engines.

use std::time::Duration;

use neuron_runtime::OpenTicket;
use neuron_types::{
    Decision, RecordedEvent, RunId, RunInput, RunOutput, RunPhase, RunStatus, UserMessage,
};
use serde_json::Value;

use crate::{CliError, args::EngineName, session::Session};

#[cfg(any(feature = "temporal", feature = "restate"))]
mod error;
mod local;
#[cfg(feature = "restate")]
mod restate;
#[cfg(feature = "temporal")]
mod temporal;

#[cfg(any(feature = "temporal", feature = "restate"))]
pub(crate) use error::EngineError;
pub(crate) use local::Local;

/// How often a run is looked at that was seen to move.
const POLL: Duration = Duration::from_millis(100);

/// How often a run on an engine is looked at that does not move: each look costs a worker something.
const IDLE_POLL: Duration = Duration::from_secs(1);

/// The task queue on Temporal and the prefix on Restate, where [`TASK_QUEUE_VARIABLE`] is not set.
#[cfg(any(feature = "temporal", feature = "restate"))]
const TASK_QUEUE: &str = "neuron";

#[cfg(any(feature = "temporal", feature = "restate"))]
const TASK_QUEUE_VARIABLE: &str = "NEURON_TASK_QUEUE";

/// An engine with which this command can speak. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    /// The embedded journal.
    Local(Local),
    #[cfg(feature = "temporal")]
    Temporal(temporal::Temporal),
    #[cfg(feature = "restate")]
    Restate(restate::Restate),
}

/// Hands a call to the engine that there is.
macro_rules! on {
    ($self:expr, $engine:ident => $call:expr) => {
        match $self {
            Engine::Local($engine) => $call,
            #[cfg(feature = "temporal")]
            Engine::Temporal($engine) => $call,
            #[cfg(feature = "restate")]
            Engine::Restate($engine) => $call,
        }
    };
}

impl Engine {
    /// The engine that the command line names.
    ///
    /// # Errors
    ///
    /// What keeps it from being reached, or that this build is without it.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        match session.global.engine {
            EngineName::Local => Ok(Self::Local(Local::new(session.journal_if_any().await?))),
            #[cfg(feature = "temporal")]
            EngineName::Temporal => Ok(Self::Temporal(temporal::Temporal::connect().await?)),
            #[cfg(feature = "restate")]
            EngineName::Restate => Ok(Self::Restate(restate::Restate::connect()?)),
            #[cfg(not(all(feature = "temporal", feature = "restate")))]
            engine => Err(CliError::NotBuilt { engine }),
        }
    }

    /// Starts a run, which workers of the engine execute.
    ///
    /// # Errors
    ///
    /// That there is such a run already, what keeps the engine from being reached, and
    /// [`CliError::SubmitHere`] of the local engine, which has no workers.
    pub(crate) async fn start(&self, run_id: &RunId, input: RunInput) -> Result<(), CliError> {
        on!(self, engine => engine.start(run_id, input).await)
    }

    /// Where a run stands.
    ///
    /// # Errors
    ///
    /// That there is no such run, or why it cannot be said.
    pub(crate) async fn status(&self, run_id: &RunId) -> Result<RunStatus, CliError> {
        on!(self, engine => engine.status(run_id).await)
    }

    /// A run's events behind number `after`, in order.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub(crate) async fn events(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, CliError> {
        on!(self, engine => engine.events(run_id, after).await)
    }

    /// What a run came to that is over.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub(crate) async fn output(&self, run_id: &RunId) -> Result<RunOutput, CliError> {
        on!(self, engine => engine.output(run_id).await)
    }

    /// The newest runs, the newest first.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being asked.
    pub(crate) async fn runs(&self, limit: u32) -> Result<Vec<RunStatus>, CliError> {
        on!(self, engine => engine.runs(limit).await)
    }

    /// The open tickets of one run or of all.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub(crate) async fn approvals(
        &self,
        run_id: Option<&RunId>,
    ) -> Result<Vec<OpenTicket>, CliError> {
        on!(self, engine => engine.approvals(run_id).await)
    }

    /// Answers a ticket.
    ///
    /// # Errors
    ///
    /// Why the decision is refused: the run is none the worse.
    pub(crate) async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), CliError> {
        on!(self, engine => engine.decide(run_id, decision).await)
    }

    /// Queues a message for the next turn boundary.
    ///
    /// # Errors
    ///
    /// That there is no such run or that it is over.
    pub(crate) async fn send(&self, run_id: &RunId, message: UserMessage) -> Result<(), CliError> {
        on!(self, engine => engine.send(run_id, message).await)
    }

    /// Sends any signal. Those that an agent run takes go the way of the commands that are made for them.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), or that the payload does not fit.
    pub(crate) async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), CliError> {
        on!(self, engine => engine.signal(run_id, name, payload).await)
    }

    /// Cancels a run. The phase is what it is in now: it takes up the wish in a moment if it is under way.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub(crate) async fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> Result<RunPhase, CliError> {
        on!(self, engine => engine.cancel(run_id, reason).await)
    }

    /// Whether somebody sees to it that the run goes on. An engine always does.
    ///
    /// # Errors
    ///
    /// Why it cannot be said.
    pub(crate) fn is_executing(&self, run_id: &RunId) -> Result<bool, CliError> {
        match self {
            Self::Local(local) => local.is_executing(run_id),
            #[cfg(any(feature = "temporal", feature = "restate"))]
            _ => Ok(true),
        }
    }

    /// Whether the runs are executed by processes of this machine's person.
    pub(crate) const fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// Waits until the run may be over: at its end on an engine that tells, else for ever.
    pub(crate) async fn ended(&self, run_id: &RunId) {
        on!(self, engine => engine.ended(run_id).await);
    }

    /// How long to wait before the next look at a run, after this many looks at which nothing was new.
    pub(crate) fn poll(&self, looks: u32) -> Duration {
        if self.is_local() {
            POLL
        } else {
            POLL.saturating_mul(1 << looks.min(4)).min(IDLE_POLL)
        }
    }
}

/// The task queue on Temporal and the prefix of the services on Restate.
#[cfg(any(feature = "temporal", feature = "restate"))]
fn task_queue() -> String {
    std::env::var(TASK_QUEUE_VARIABLE)
        .ok()
        .filter(|name| !name.trim().is_empty())
        .unwrap_or_else(|| TASK_QUEUE.to_owned())
}

/// The open tickets of these runs.
#[cfg(any(feature = "temporal", feature = "restate"))]
fn tickets(runs: impl IntoIterator<Item = RunStatus>) -> Vec<OpenTicket> {
    let of_run = |run: RunStatus| {
        let run_id = run.run_id;
        let open = run.approvals.into_iter();
        open.map(move |ticket| OpenTicket {
            run_id: run_id.clone(),
            ticket,
        })
    };
    runs.into_iter().flat_map(of_run).collect()
}
