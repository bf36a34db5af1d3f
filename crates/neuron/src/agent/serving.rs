//! A workflow of the program, in the form in which each engine of this build runs it.

use std::fmt;

use neuron_local::MemoryWorkflow;
use neuron_workflows::Workflow;

#[cfg(feature = "temporal")]
use super::hosted::{Register, register};

/// A workflow in a journal.
#[cfg(feature = "local")]
type InJournal = neuron_local::LocalWorkflow;

/// A workflow in a journal: empty in a build without it.
#[cfg(not(feature = "local"))]
type InJournal = ();

/// A workflow on Restate.
#[cfg(feature = "restate")]
type OnRestate = neuron_restate::Workflow;

/// A workflow on Restate: empty in a build without it.
#[cfg(not(feature = "restate"))]
type OnRestate = ();

/// A workflow on each engine of this build. `#[neuron::workflow]` makes it.
#[derive(Clone, Copy)]
pub struct Serving {
    pub(crate) memory: MemoryWorkflow,
    #[cfg(feature = "local")]
    pub(crate) journal: InJournal,
    /// The patches that the workflow declares.
    pub(crate) patches: &'static [&'static str],
    #[cfg(feature = "temporal")]
    pub(crate) temporal: Register,
    #[cfg(feature = "temporal")]
    pub(crate) temporal_type: &'static str,
    #[cfg(feature = "restate")]
    pub(crate) restate: OnRestate,
}

impl Serving {
    /// Returns the serving of the workflow `W`, made of these functions.
    #[doc(hidden)]
    #[must_use]
    pub const fn of<W: Workflow>(
        memory: MemoryWorkflow,
        #[cfg_attr(not(feature = "local"), allow(unused_variables))] journal: InJournal,
        #[cfg_attr(not(feature = "restate"), allow(unused_variables))] restate: OnRestate,
    ) -> Self {
        Self {
            memory,
            #[cfg(feature = "local")]
            journal,
            patches: W::PATCHES,
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

/// Makes the serving of a workflow. Its functions have to be of one door each.
#[doc(hidden)]
#[macro_export]
macro_rules! __serving {
    ($workflow:ty) => {
        $crate::workflow::Serving::of::<$workflow>(
            |door, start| {
                ::std::boxed::Box::pin($crate::workflow::run_of_tree::<$workflow, _>(door, start))
            },
            $crate::__in_journal!($workflow),
            $crate::__on_restate!($workflow),
        )
    };
}

#[cfg(feature = "local")]
#[doc(hidden)]
#[macro_export]
macro_rules! __in_journal {
    ($workflow:ty) => {
        |door, start| {
            ::std::boxed::Box::pin($crate::workflow::run_of_tree::<$workflow, _>(door, start))
        }
    };
}

#[cfg(not(feature = "local"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __in_journal {
    ($workflow:ty) => {
        ()
    };
}

#[cfg(feature = "restate")]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_restate {
    ($workflow:ty) => {
        |door, start| ::std::boxed::Box::pin($crate::workflow::run::<$workflow, _>(door, start))
    };
}

#[cfg(not(feature = "restate"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __on_restate {
    ($workflow:ty) => {
        ()
    };
}
