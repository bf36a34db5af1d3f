//! The thread that requests are made on.

use std::{
    convert::Infallible,
    fmt, io,
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

use crate::error::TelemetryError;

/// A thread with a runtime of its own. The SDK exports from threads that have none, and those that end a process may be
/// in another, which must not wait for itself.
pub(crate) struct HttpThread {
    handle: Handle,
    /// Nothing is ever sent: the thread ends when this is dropped.
    running: Mutex<Option<oneshot::Sender<Infallible>>>,
}

impl HttpThread {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system gives no thread.
    pub(crate) fn start() -> Result<Self, TelemetryError> {
        Self::try_start().map_err(|source| TelemetryError::Thread { source })
    }

    fn try_start() -> io::Result<Self> {
        let (started, is_started) = mpsc::sync_channel(1);
        let (running, stopped) = oneshot::channel::<Infallible>();
        // The runtime is made and dropped where no other one is.
        let run = move || match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                if started.send(Ok(runtime.handle().clone())).is_ok() {
                    runtime.block_on(stopped).ok();
                }
                // Names may still be looked up, which is not waited for.
                runtime.shutdown_background();
            }
            Err(error) => drop(started.send(Err(error))),
        };
        let name = "neuron-telemetry".to_owned();
        thread::Builder::new().name(name).spawn(run)?;
        let handle = is_started.recv().map_err(io::Error::other)??;
        Ok(Self {
            handle,
            running: Mutex::new(Some(running)),
        })
    }

    /// Returns what runs tasks on it. Once it has ended, they are cancelled.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Ends it, with the requests under way.
    pub(crate) fn stop(&self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        drop(running.take());
    }
}

impl fmt::Debug for HttpThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpThread").finish_non_exhaustive()
    }
}
