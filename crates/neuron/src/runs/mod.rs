//! The runs on an engine, for programs that start and follow them.

#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
mod builder;

use std::{collections::BTreeMap, fmt, sync::Arc};

use neuron_engine::{
    PageRequest, RunClient, RunClientError, RunFilter, RunHandle, RunPage, TicketPage,
};
use neuron_types::{RunId, RunRequest};
use neuron_workflows::Workflow;

use crate::{
    agent::Parts,
    place::{Engine, StartFuture},
    remote::RemoteAgent,
    run::{Run, RunFailure},
};

#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
pub use builder::RunsBuilder;

/// The runs on an engine: it starts them, finds them by their ids and lists them. Cheap to clone.
///
/// It is the same value whatever the engine is, so a program that serves requests, such as a web service, needs no
/// generic parameter for it. [`Worker::runs`](crate::Worker::runs) returns one, and [`Runs::on`] connects a program that
/// serves no runs.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use neuron::{Agent, EngineKind, Runs, Worker, config::DemoModel, prelude::*, types::Message};
///
/// let agent = Agent::builder("lead").model(Model::of(DemoModel, "demo")).build()?;
/// # let home = tempfile::tempdir()?;
/// # let home = home.path();
/// let worker = Worker::on(EngineKind::Local).home(home).agent(&agent).spawn().await?;
/// let runs: Runs = worker.runs();
///
/// let request = RunRequest::new("lead", Message::user("hello")).tenant("acme");
/// let answer = runs.start("report-1", request).await?.result().await?;
/// assert!(!answer.is_empty());
/// assert!(runs.run("report-1")?.status().await?.state.is_final());
/// worker.stop().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runs {
    client: Arc<dyn RunClient>,
    engine: Arc<dyn Engine>,
    /// The clients of the workflows that have one of their own, by their names.
    workflows: Arc<BTreeMap<String, Arc<dyn RunClient>>>,
}

impl Runs {
    /// Returns the runs of this client. `engine` starts the runs of agents whose values the program has.
    pub(crate) fn new(client: Arc<dyn RunClient>, engine: impl Engine + 'static) -> Self {
        Self {
            client,
            engine: Arc::new(engine),
            workflows: Arc::default(),
        }
    }

    /// Starts the runs that name one of these workflows with its client.
    #[cfg(feature = "temporal")]
    pub(crate) fn with_workflows(
        mut self,
        workflows: BTreeMap<String, Arc<dyn RunClient>>,
    ) -> Self {
        self.workflows = Arc::new(workflows);
        self
    }

    fn client_of(&self, name: &str) -> Arc<dyn RunClient> {
        Arc::clone(self.workflows.get(name).unwrap_or(&self.client))
    }

    /// Starts a run of the agent that the request names, or of a workflow that the [`Worker`](crate::Worker) serves, or
    /// attaches to the run of this id if that was started with an equal request, as [`RunRequest::is_same_start`]
    /// compares. A program without the worker names a workflow with [`workflow`](Self::workflow).
    ///
    /// # Errors
    ///
    /// [`RunFailure::RunId`], [`RunFailure::OtherRun`] if the id belongs to a run that was started with anything else,
    /// or the error that keeps the engine from starting the run.
    pub async fn start(&self, run_id: &str, request: RunRequest) -> Result<Run, RunFailure> {
        let agent = self.agent::<str, String>(request.agent.name());
        agent.start_request(run_id, request).await
    }

    /// Returns the run of this id: its status, events, tickets and result, decisions, messages and its cancellation.
    /// The engine is not asked yet.
    ///
    /// # Errors
    ///
    /// [`RunFailure::RunId`].
    pub fn run(&self, run_id: &str) -> Result<RunHandle, RunFailure> {
        let run_id = RunId::new(run_id).map_err(|source| RunFailure::RunId { source })?;
        Ok(RunHandle::new(Arc::clone(&self.client), run_id))
    }

    /// Returns the agent of this name, of a worker in any process. `I` is the input of its runs, and `O` their output.
    #[must_use]
    pub fn agent<I: ?Sized, O>(&self, name: impl Into<String>) -> RemoteAgent<I, O> {
        let name = name.into();
        RemoteAgent::new(self.client_of(&name), name)
    }

    /// Returns a workflow of a program, of a worker in any process: it starts runs like an agent.
    #[must_use]
    pub fn workflow<W: Workflow>(&self) -> RemoteAgent<W::Input, W::Output> {
        match self.engine.client_of_workflow(W::TEMPORAL_TYPE) {
            Some(client) => RemoteAgent::new(client, W::NAME),
            None => self.agent(W::NAME),
        }
    }

    /// Returns a page of the runs that match the filter, the newest first. A page can be empty without being the last.
    ///
    /// # Errors
    ///
    /// [`RunClientError::BadCursor`], or the error that keeps the engine from being asked.
    pub async fn list(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<RunPage, RunClientError> {
        self.client.list(filter, page).await
    }

    /// Returns the open tickets of all runs, the newest run first, one page of runs at a time. A page can be empty without
    /// being the last. Those of one run are [`RunHandle::tickets`].
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub async fn tickets(&self, page: PageRequest) -> Result<TicketPage, RunClientError> {
        self.client.tickets(None, page).await
    }

    /// Returns the client below, which the blocks of `neuron` take.
    #[must_use]
    pub const fn client(&self) -> &Arc<dyn RunClient> {
        &self.client
    }
}

impl Engine for Runs {
    fn start_run<'a>(
        &'a self,
        agent: &'a Arc<Parts>,
        run_id: RunId,
        request: RunRequest,
    ) -> StartFuture<'a> {
        self.engine.start_run(agent, run_id, request)
    }
}

impl From<Arc<dyn RunClient>> for Runs {
    fn from(client: Arc<dyn RunClient>) -> Self {
        Self::new(Arc::clone(&client), client)
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs")
            .field("client", &self.client)
            .finish()
    }
}
