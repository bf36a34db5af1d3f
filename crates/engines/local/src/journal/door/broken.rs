//! A journal with which a run cannot continue.

use std::{error::Error, sync::Arc};

use neuron_types::DurableError;

/// Why a run cannot continue with its journal: every later wait returns the same.
#[derive(Debug, Clone)]
pub(crate) enum Broken {
    /// It has another step than the one that is requested.
    Misfit {
        step: String,
        recorded: String,
        requested: String,
    },
    /// It cannot be read.
    Engine(Arc<dyn Error + Send + Sync>),
}

impl From<DurableError> for Broken {
    fn from(error: DurableError) -> Self {
        match error {
            DurableError::NonDeterminism {
                step,
                recorded,
                requested,
            } => Self::Misfit {
                step,
                recorded,
                requested,
            },
            DurableError::Engine { source } => Self::Engine(Arc::from(source)),
            other => Self::Engine(Arc::new(other)),
        }
    }
}

impl From<Broken> for DurableError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Misfit {
                step,
                recorded,
                requested,
            } => Self::NonDeterminism {
                step,
                recorded,
                requested,
            },
            Broken::Engine(source) => Self::engine(source),
        }
    }
}
