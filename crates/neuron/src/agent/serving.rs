//! A workflow of one's own, as each engine of this build runs it.

use std::fmt;

use futures::future::BoxFuture;
use neuron_local::{JournaledContext, LocalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};
use neuron_workflows::Workflow;

#[cfg(feature = "temporal")]
use super::hosted::{Register, register};

/// A workflow in memory.
pub type InMemory =
    for<'a> fn(&'a LocalDurableContext, RunStart) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// A workflow in a journal.
pub type InJournal =
    for<'a> fn(&'a JournaledContext, RunStart) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// A workflow on Restate.
#[cfg(feature = "restate")]
pub type OnRestate = neuron_restate::Workflow;

/// A workflow on Restate: nothing, in a build without it.
#[cfg(not(feature = "restate"))]
pub type OnRestate = ();

/// A workflow on each engine of this build. `#[neuron::workflow]` makes it.
#[derive(Clone, Copy)]
pub struct Serving {
    pub(crate) memory: InMemory,
    pub(crate) journal: InJournal,
    #[cfg(feature = "temporal")]
    pub(crate) temporal: Register,
    #[cfg(feature = "temporal")]
    pub(crate) temporal_type: &'static str,
    #[cfg(feature = "restate")]
    pub(crate) restate: OnRestate,
}

impl Serving {
    /// The workflow `W` by these functions.
    #[doc(hidden)]
    #[must_use]
    pub const fn of<W: Workflow>(
        memory: InMemory,
        journal: InJournal,
        #[cfg_attr(not(feature = "restate"), allow(unused_variables))] restate: OnRestate,
    ) -> Self {
        Self {
            memory,
            journal,
            #[cfg(feature = "temporal")]
            temporal: register::<W>,
            #[cfg(feature = "temporal")]
            temporal_type: W::TEMPORAL_TYPE,
            #[cfg(feature = "restate")]
            restate,
        }
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
