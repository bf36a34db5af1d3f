//! Ctrl-C and similar signals, from before anything is started that has to end with the command.

use std::future::Future;

use neuron_worker::Interruption;
use tokio_util::sync::CancellationToken;

use crate::{CliError, Exit};

/// The signals that end the command. The first one is handled here, and the second ends the process at once.
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

    /// Returns the number of the first signal, if one arrived.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.interruption.signal()
    }

    /// Returns a token that the first signal cancels.
    pub(crate) const fn first(&self) -> &CancellationToken {
        &self.first
    }

    /// Performs work unless a signal arrives before it is done: the work is dropped then.
    ///
    /// # Errors
    ///
    /// The exit code of the command after the signal.
    pub(crate) async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Exit> {
        tokio::select! {
            biased;
            () = self.first.cancelled() => Err(self.signal().map_or(Exit::Usage, Exit::Signalled)),
            done = work => Ok(done),
        }
    }
}
