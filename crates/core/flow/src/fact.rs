//! What became known of what a run has started.

use neuron_types::{Handle, Outcome, StepFailure};

use crate::StepLife;

/// Names one attempt at a step, in its segment of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptKey {
    /// What was started.
    pub handle: Handle,
    /// Which attempt of the step it is, counted from 1. Attempts that did not count because their worker lacked what
    /// they needed are included.
    pub number: u32,
}

/// Something that became known of what a run has started.
///
/// Facts that became known together are passed together, in the order in which they are observed. The fact that the run
/// is cancelled counts before the others, wherever it stands among them.
#[derive(Debug)]
pub enum Fact {
    /// The run is cancelled. The first reason stays.
    Cancelled {
        /// Why, in the words of the caller who cancelled the run.
        reason: Option<String>,
    },
    /// The step is being made, or is from now on: its result is owed if it is a write.
    Made {
        /// What was started.
        handle: Handle,
    },
    /// Attempts at the step have failed, on whichever worker.
    Failing {
        /// What was started.
        handle: Handle,
        /// The outcome of these attempts.
        life: StepLife,
    },
    /// The worker was lost that made an attempt at the step. So many in a row end it.
    Lost {
        /// What was started.
        handle: Handle,
    },
    /// An attempt has come to its end.
    Ended {
        /// The attempt. If nothing waits for the attempt any more, its end is forgotten.
        key: AttemptKey,
        /// How many attempts were made by then under this name: several where a worker makes them one after another.
        made: u32,
        /// The result of the attempt.
        result: Result<Outcome, StepFailure>,
    },
    /// The step has come to its end, whatever its retry policy says.
    Over {
        /// What was started.
        handle: Handle,
        /// The result of the step, with what all its attempts used and cost.
        result: Result<Outcome, StepFailure>,
    },
    /// A deadline is over.
    Due {
        /// What was started.
        handle: Handle,
    },
}
