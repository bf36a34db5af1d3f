//! The places where runs are started.

use std::{future::Future, pin::Pin, sync::Arc};

use neuron_engine::{RunClient, RunHandle};
use neuron_types::{RunId, RunRequest};

use crate::{
    agent::Parts,
    run::{RunFailure, Started},
};

/// The future of [`Engine::start_run`].
pub type StartFuture<'a> = Pin<Box<dyn Future<Output = Result<Started, RunFailure>> + Send + 'a>>;

/// A place where runs of an [`Agent`](crate::Agent) are started: [`Local`](crate::Local), or the client of an engine
/// whose workers have the agent.
pub trait Engine: Send + Sync {
    /// Starts a run of this agent, or attaches to the run of this id if it was started with an equal request, as
    /// [`RunRequest::is_same_start`] compares.
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a>;

    /// Returns the client of the runs of a workflow that has this type on Temporal, if the engine keeps the runs of each
    /// workflow apart. Default is `None`: one client has them all.
    fn client_of_workflow(&self, temporal_type: &str) -> Option<Arc<dyn RunClient>> {
        let _ = temporal_type;
        None
    }
}

/// The workers of the engine execute the run.
impl Engine for Arc<dyn RunClient> {
    fn start_run<'a>(
        &'a self,
        _agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        Box::pin(start_elsewhere(Arc::clone(self), run_id, request))
    }
}

/// Starts a run that workers execute, or attaches to it.
pub(crate) async fn start_elsewhere(
    client: Arc<dyn RunClient>,
    run_id: RunId,
    request: RunRequest,
) -> Result<Started, RunFailure> {
    attach_or_start(&client, &run_id, request).await?;
    Ok(Started::elsewhere(RunHandle::new(client, run_id)))
}

/// Starts a run, unless it exists and was started with an equal request.
pub(crate) async fn attach_or_start(
    client: &Arc<dyn RunClient>,
    run_id: &RunId,
    request: RunRequest,
) -> Result<(), RunFailure> {
    match client.start(run_id, request.clone()).await {
        Err(error) if error.is_run_exists() => {
            if client.was_started_with(run_id, &request).await? {
                Ok(())
            } else {
                Err(RunFailure::OtherRun {
                    run_id: run_id.clone(),
                })
            }
        }
        started => Ok(started?),
    }
}
