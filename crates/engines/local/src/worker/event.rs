//! Events that a worker reports about its runs.

use chrono::{DateTime, Utc};
use neuron_types::{RunId, RunOutput, RunPhase};

/// An event of a run in a worker.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WorkerEvent {
    /// It is executed from now on.
    Started {
        /// The run.
        run_id: RunId,
        /// The name of its agent.
        agent: String,
    },
    /// It waits, and no process has it any more. It continues when what it waits for arrives.
    Parked {
        /// The run.
        run_id: RunId,
        /// What it waits for.
        state: RunPhase,
        /// When it continues in any case.
        wakes_at: Option<DateTime<Utc>>,
    },
    /// It is over.
    Ended {
        /// Its output.
        output: Box<RunOutput>,
    },
    /// It is left to other workers. Reported once for each reason.
    Left {
        /// The run.
        run_id: RunId,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// It cannot continue here, and is retried later. Reported once for each reason.
    Stuck {
        /// The run.
        run_id: RunId,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// The worker ends, and the run stays as it is.
    PutAway {
        /// The run.
        run_id: RunId,
    },
}
