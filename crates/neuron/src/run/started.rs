//! A run that an engine has started or attached to.

use neuron_engine::RunHandle;
use neuron_types::RunId;

use super::follower::Follower;
use crate::local::Watched;

/// A run that an engine has started or attached to, before it is known what it comes to.
#[derive(Debug)]
pub struct Started {
    pub(crate) run_id: RunId,
    pub(crate) source: Source,
}

/// Where the items of a run come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// From its execution in this process.
    Here(Watched),
    /// From its engine, which is asked again and again.
    Followed(Follower),
}

impl Started {
    /// A run that executes elsewhere.
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
