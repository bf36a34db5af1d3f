//! Ctrl-C and its kin, from before anything is started that has to end with the command.

use std::future::Future;

use neuron_worker::Interruption;
use tokio_util::sync::CancellationToken;

use crate::{CliError, Exit};

/// The signals that end the command. The first one is heeded here, and the second ends the process at once.
#[derive(Debug)]
pub(crate) struct Signals {
    interruption: Interruption,
    first: CancellationToken,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    ///
    /// [`CliError::Signals`].
    pub(crate) fn listen() -> Result<Self, CliError> {
        let first = CancellationToken::new();
        let at_signal = first.clone();
        let listening = Interruption::listen(move || at_signal.cancel());
        Ok(Self {
            interruption: listening.map_err(CliError::Signals)?,
            first,
        })
    }

    /// The number of the first signal, if one came.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.interruption.signal()
    }

    /// Cancelled at the first signal.
    pub(crate) const fn first(&self) -> &CancellationToken {
        &self.first
    }

    /// Does something unless a signal comes before it is done: it is dropped then.
    ///
    /// # Errors
    ///
    /// What the command exits with after the signal.
    pub(crate) async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Exit> {
        tokio::select! {
            biased;
            () = self.first.cancelled() => Err(self.signal().map_or(Exit::Usage, Exit::Signalled)),
            done = work => Ok(done),
        }
    }
}
