//! Agents of workers in other processes.

use std::{fmt, marker::PhantomData, sync::Arc};

use neuron_engine::{RunClient, RunHandle};
use neuron_types::{RunId, RunRequest};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    agent::prompt,
    place::start_elsewhere,
    run::{Run, RunFailure, Started},
};

/// An agent that is known by its name: workers in other processes execute it. `I` is the input of its runs, and `O`
/// their output.
pub struct RemoteAgent<I: ?Sized = str, O = String> {
    client: Arc<dyn RunClient>,
    name: String,
    types: PhantomData<fn(&I) -> O>,
}

impl<I: ?Sized, O> RemoteAgent<I, O> {
    /// Returns the agent of this name on this client's engine.
    #[must_use]
    pub fn new(client: Arc<dyn RunClient>, name: impl Into<String>) -> Self {
        Self {
            client,
            name: name.into(),
            types: PhantomData,
        }
    }

    /// Returns a run that was started before, to be followed from its first event on. The engine is not asked yet.
    ///
    /// # Errors
    ///
    /// [`RunFailure::RunId`].
    pub fn run(&self, run_id: &str) -> Result<Run<O>, RunFailure> {
        let run_id = RunId::new(run_id).map_err(|source| RunFailure::RunId { source })?;
        let run = RunHandle::new(Arc::clone(&self.client), run_id);
        Ok(Run::of(Started::elsewhere(run)))
    }
}

impl<I: Serialize + ?Sized, O: DeserializeOwned + 'static> RemoteAgent<I, O> {
    /// Starts a run, or attaches to the run of this id if it was started with the same agent and input, for the same
    /// tenant and owner, and with the same labels, overrides and preamble: see
    /// [`RunRequest::is_same_start`](neuron_types::RunRequest::is_same_start). That applies on every engine, and to a
    /// run that is over.
    ///
    /// # Errors
    ///
    /// [`RunFailure::RunId`], [`RunFailure::Input`], [`RunFailure::OtherRun`] if the id belongs to a run that was
    /// started with anything else, or the error that keeps the engine from starting the run.
    pub async fn start(&self, run_id: &str, input: &I) -> Result<Run<O>, RunFailure> {
        self.start_request(run_id, RunRequest::new(self.name.as_str(), prompt(input)?))
            .await
    }

    /// Starts a run as [`start`](Self::start) does, with everything that a run can be started with: a tenant, an owner,
    /// labels.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start).
    pub async fn start_request(
        &self,
        run_id: &str,
        request: RunRequest,
    ) -> Result<Run<O>, RunFailure> {
        let run_id = RunId::new(run_id).map_err(|source| RunFailure::RunId { source })?;
        let client = Arc::clone(&self.client);
        Ok(Run::of(start_elsewhere(client, run_id, request).await?))
    }
}

impl<I: ?Sized, O> Clone for RemoteAgent<I, O> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.client), self.name.clone())
    }
}

impl<I: ?Sized, O> fmt::Debug for RemoteAgent<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgent")
            .field("engine", &self.client.engine())
            .field("name", &self.name)
            .finish()
    }
}
