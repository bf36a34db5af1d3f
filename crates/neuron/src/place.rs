//! Where runs are started.

use std::{future::Future, pin::Pin, sync::Arc};

use neuron_engine::{RunClient, RunHandle};
use neuron_types::{RunId, RunRequest};

use crate::{
    agent::Parts,
    run::{RunFailure, Started},
};

/// What [`Engine::start_run`] returns.
pub type StartFuture<'a> = Pin<Box<dyn Future<Output = Result<Started, RunFailure>> + Send + 'a>>;

/// Where runs of an [`Agent`](crate::Agent) are started: [`Local`](crate::Local), or the client of an engine whose
/// workers have the agent.
pub trait Engine: Send + Sync {
    /// Starts a run of this agent, or attaches to the run of this id if its agent and input are the same.
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a>;
}

/// The workers of the engine act for the run.
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
    let agent = request.agent.name().to_owned();
    let prompt = request.prompt.text();
    let run = RunHandle::new(Arc::clone(&client), run_id.clone());
    match client.start(&run_id, request).await {
        Ok(()) => {}
        Err(error) if error.is_run_exists() => {
            if !is_same(&run, &agent, &prompt).await? {
                return Err(RunFailure::OtherRun { run_id });
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Started::elsewhere(run))
}

/// Whether a run that is there was started with this agent and prompt. A run that has not begun to be executed does
/// not say what its prompt is: it is taken to be the same if its agent is.
async fn is_same(run: &RunHandle, agent: &str, prompt: &str) -> Result<bool, RunFailure> {
    use neuron_types::RunEvent::RunStarted;

    if run.status().await?.agent != agent {
        return Ok(false);
    }
    let page = run.events(0, 1).await?;
    Ok(page.events.first().is_none_or(|first| match &first.event {
        RunStarted {
            prompt: started, ..
        } => started == prompt,
        _ => true,
    }))
}
