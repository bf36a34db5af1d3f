//! What a worker reports of its runs.

use chrono::{DateTime, Utc};
use neuron_types::{RunId, RunOutput, RunPhase};

/// What happened to a run in a worker.
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
    /// It waits, and no process has it any more. It goes on when what it waits for is there.
    Parked {
        /// The run.
        run_id: RunId,
        /// What it waits for.
        state: RunPhase,
        /// When it goes on whatever comes.
        wakes_at: Option<DateTime<Utc>>,
    },
    /// It is over.
    Ended {
        /// What it came to.
        output: Box<RunOutput>,
    },
    /// It is left to others. Said once for each reason.
    Left {
        /// The run.
        run_id: RunId,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// It cannot go on here, and is tried again later. Said once for each reason.
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
