//! A run that an engine has started or attached to.

use neuron_engine::RunHandle;
use neuron_types::RunId;

use super::follower::Follower;
use crate::local::Watched;

/// A run that an engine has started or attached to, before its result is known.
#[derive(Debug)]
pub struct Started {
    pub(crate) run_id: RunId,
    pub(crate) source: Source,
}

/// The source of the items of a run.
#[derive(Debug)]
pub(crate) enum Source {
    /// The run's execution in this process.
    Here(Watched),
    /// The run's engine, which is asked again and again.
    Followed(Follower),
}

impl Started {
    /// Returns a run that executes elsewhere.
    #[must_use]
    pub fn elsewhere(run: RunHandle) -> Self {
        Self {
            run_id: run.id().clone(),
            source: Source::Followed(Follower::new(run)),
        }
    }

    pub(crate) fn here(run_id: RunId, watched: Watched) -> Self {
        Self {
            run_id,
            source: Source::Here(watched),
        }
    }
}
