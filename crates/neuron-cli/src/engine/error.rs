//! What can go wrong between the command and an engine, whichever it is.

use std::error::Error;

use neuron_types::{RunId, RunPhase};

use crate::args::EngineName;

type Source = Box<dyn Error + Send + Sync>;

/// What can go wrong between the command and an engine, and what the engine refuses.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineError {
    #[error(
        "{engine} cannot be reached at {address}: start it (`neuron dev` does), or set {variable}"
    )]
    Unreachable {
        engine: EngineName,
        address: String,
        variable: &'static str,
        source: Source,
    },
    #[error(
        "{engine} answered with an error: see that the server is well, and its worker of this version"
    )]
    Failed { engine: EngineName, source: Source },
    /// The settings for the connection cannot be used.
    #[error("{0}")]
    Settings(String, #[source] Source),
    #[error(
        "no worker answers for run {run_id}: start one with `{worker}`, the run goes on from where it is"
    )]
    NoWorker { run_id: RunId, worker: &'static str },
    /// The engine keeps what was asked for.
    #[error(
        "no worker answers for run {run_id}, it takes this up when one is there: start one with `{worker}`"
    )]
    NotTaken { run_id: RunId, worker: &'static str },
    #[error("there is no run {run_id} here: `neuron runs` lists those that there are")]
    UnknownRun { run_id: RunId },
    #[error("there is a run {run_id} already: choose another id")]
    RunExists { run_id: RunId },
    #[error("run {run_id} is over ({state}): `neuron wait {run_id}` prints its output")]
    RunOver { run_id: RunId, state: RunPhase },
    #[error("the payload does not fit the signal {name}: use the command that is made for it")]
    BadSignal {
        name: String,
        source: serde_json::Error,
    },
    /// The run says no, in a sentence of its own.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    /// Whether the same may work in a while, without anybody changing what is asked.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Failed { .. } | Self::NoWorker { .. }
        )
    }
}
