//! Stopping a run from outside.

use std::sync::OnceLock;

use neuron_types::DurableError;
use tokio_util::sync::CancellationToken;

/// Wakes every wait in a run that is to stop, and remembers why. The first reason stays.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    token: CancellationToken,
    why: OnceLock<Why>,
    #[cfg(feature = "journal")]
    is_draining: std::sync::atomic::AtomicBool,
}

#[derive(Debug)]
enum Why {
    Cancelled(Option<String>),
    #[cfg(feature = "journal")]
    Interrupted,
}

impl Stop {
    pub(crate) fn cancel(&self, reason: Option<String>) {
        self.end(Why::Cancelled(reason));
    }

    fn end(&self, why: Why) {
        // Set first: a waiter that the token wakes reads the reason.
        self.why.get_or_init(|| why);
        self.token.cancel();
    }

    /// Cancelled when the run is stopped.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Returns the error of all further calls of the door, if the run was stopped.
    pub(crate) fn error(&self) -> Option<DurableError> {
        self.why.get().map(|why| match why {
            Why::Cancelled(reason) => DurableError::Cancelled {
                reason: reason.clone(),
            },
            #[cfg(feature = "journal")]
            Why::Interrupted => DurableError::Suspended,
        })
    }
}

/// What only a run that can be resumed needs.
#[cfg(feature = "journal")]
impl Stop {
    pub(crate) fn interrupt(&self) {
        self.end(Why::Interrupted);
    }

    /// Makes the run stop between two steps, to be resumed later.
    pub(crate) fn drain(&self) {
        self.is_draining
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Returns whether the run is to stop between two steps.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns whether it was stopped to be resumed later.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self.why.get(), Some(Why::Interrupted))
    }

    pub(crate) fn check(&self) -> Result<(), DurableError> {
        self.error().map_or(Ok(()), Err)
    }
}
