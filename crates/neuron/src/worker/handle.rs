//! A worker that serves.

use std::{fmt, future::Future, net::SocketAddr, sync::Arc};

use neuron_types::{RunId, RunRequest};
use tokio::signal::unix::{SignalKind, signal};

#[cfg(feature = "local")]
use super::local::LocalTask;
use super::{EngineKind, WorkerFailure, beside::Beside};
use crate::{
    Runs,
    agent::Parts,
    place::{Engine, StartFuture},
};

/// A worker that serves agents on one of the engines, beside the tasks of the program. It stops with
/// [`stop`](Self::stop), or when it is dropped.
///
/// The engine is a value, so a program may read it from its command line:
///
/// ```no_run
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use neuron::{Agent, EngineKind, Worker};
///
/// let agent = Agent::builder("greeter").model("openai/gpt-6.1-terra").build()?;
/// let engine: EngineKind = std::env::args().nth(1).as_deref().unwrap_or("local").parse()?;
/// let worker = Worker::on(engine).task_queue("greetings").agent(&agent).spawn().await?;
/// worker.run_until_signal().await?;
/// # Ok(())
/// # }
/// ```
///
/// An agent of the program starts its runs on the worker's engine: `agent.on(&worker)`. They are executed by any worker
/// that serves the agent there, this one among them. [`runs`](Self::runs) starts and finds them by name.
pub struct Worker {
    runs: Runs,
    kind: EngineKind,
    served: Served,
    beside: Beside,
}

/// What serves.
pub(super) enum Served {
    #[cfg(feature = "local")]
    Local(LocalTask),
    #[cfg(feature = "temporal")]
    Temporal(Option<crate::temporal::Worker>),
    #[cfg(feature = "restate")]
    Restate(Option<crate::restate::Worker>),
}

impl Worker {
    pub(super) const fn new(runs: Runs, kind: EngineKind, served: Served, beside: Beside) -> Self {
        Self {
            runs,
            kind,
            served,
            beside,
        }
    }

    /// Returns the engine that it serves.
    #[must_use]
    pub const fn engine(&self) -> EngineKind {
        self.kind
    }

    /// Returns the address at which it answers [about its health](crate::WorkerBuilder::health), with the port that it has;
    /// `None` if it does not.
    #[must_use]
    pub const fn health_address(&self) -> Option<SocketAddr> {
        self.beside.health()
    }

    /// Returns the runs on the engine, those of other workers among them.
    #[must_use]
    pub fn runs(&self) -> Runs {
        self.runs.clone()
    }

    /// Takes no new steps, lets those in flight end within the [grace](crate::WorkerBuilder::grace), and returns when the
    /// worker has stopped. Runs that are not over continue on another worker, or when this one is started again.
    ///
    /// # Errors
    ///
    /// The error with which the worker ended.
    pub async fn stop(mut self) -> Result<(), WorkerFailure> {
        self.served.stop().await
    }

    /// Waits until the worker ends by itself.
    ///
    /// # Errors
    ///
    /// The error with which the worker ended.
    pub async fn wait(&mut self) -> Result<(), WorkerFailure> {
        self.served.wait().await
    }

    /// Serves until the process gets SIGTERM or Ctrl-C (SIGINT), and then [stops](Self::stop). At a second signal it
    /// returns at once, and the program should end: calls in flight are left.
    ///
    /// # Errors
    ///
    /// The error with which the worker ended, [`WorkerFailure::Interrupted`] at a second signal, or
    /// [`WorkerFailure::Signals`].
    pub async fn run_until_signal(mut self) -> Result<(), WorkerFailure> {
        let mut terminate = signal(SignalKind::terminate()).map_err(WorkerFailure::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(WorkerFailure::Signals)?;
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        until(&mut self.served, next()).await?;
        tokio::select! {
            stopped = self.served.stop() => return stopped,
            () = next() => {}
        }
        self.served.abort();
        Err(WorkerFailure::Interrupted)
    }
}

/// Waits for the signal.
///
/// # Errors
///
/// The error with which the worker ended before.
async fn until(served: &mut Served, signal: impl Future<Output = ()>) -> Result<(), WorkerFailure> {
    tokio::select! {
        ended = served.wait() => ended,
        () = signal => Ok(()),
    }
}

impl Served {
    async fn stop(&mut self) -> Result<(), WorkerFailure> {
        match self {
            #[cfg(feature = "local")]
            Self::Local(worker) => worker.stop().await,
            #[cfg(feature = "temporal")]
            Self::Temporal(worker) => match worker.take() {
                Some(worker) => Ok(worker.stop().await?),
                None => Ok(()),
            },
            #[cfg(feature = "restate")]
            Self::Restate(worker) => match worker.take() {
                Some(worker) => Ok(worker.stop().await?),
                None => Ok(()),
            },
        }
    }

    fn abort(&self) {
        match self {
            #[cfg(feature = "local")]
            Self::Local(worker) => worker.abort(),
            // Dropping these ends them.
            #[cfg(feature = "temporal")]
            Self::Temporal(_) => {}
            #[cfg(feature = "restate")]
            Self::Restate(_) => {}
        }
    }

    async fn wait(&mut self) -> Result<(), WorkerFailure> {
        match self {
            #[cfg(feature = "local")]
            Self::Local(worker) => worker.wait().await,
            #[cfg(feature = "temporal")]
            Self::Temporal(Some(worker)) => Ok(worker.wait().await?),
            #[cfg(feature = "restate")]
            Self::Restate(Some(worker)) => Ok(worker.wait().await?),
            #[cfg(any(feature = "temporal", feature = "restate"))]
            _ => Ok(()),
        }
    }
}

impl Engine for Worker {
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        self.runs.start_run(agent, run_id, request)
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("engine", &self.kind)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}
