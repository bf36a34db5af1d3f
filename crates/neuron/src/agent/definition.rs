//! The agent as a value.

use std::{fmt, marker::PhantomData, sync::Arc};

use neuron_executor::Executor;
use neuron_types::{AgentSpec, RunId, RunRequest};
use serde::{Serialize, de::DeserializeOwned};

use super::{AnyAgent, Parts, prompt};
use crate::{
    local::{Local, Steps},
    place::Engine,
    run::{Finished, Run, RunFailure, RunItem, Unanswered},
};

/// An agent: its definition, and what executes it. The same value works on every engine; cheap to clone.
///
/// `I` is the input of a run and `O` its output. [`builder`](Agent::builder) makes an agent.
pub struct Agent<I: ?Sized = str, O = String> {
    parts: Arc<Parts>,
    types: PhantomData<fn(&I) -> O>,
}

impl<I: ?Sized, O> Agent<I, O> {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            parts: Arc::new(parts),
            types: PhantomData,
        }
    }

    /// Returns the agent's name, by which runs name it on every engine.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.spec.name
    }

    /// Returns the agent's definition, as runs record it.
    #[must_use]
    pub fn spec(&self) -> &AgentSpec {
        &self.parts.spec
    }

    /// Returns the executor of the agent's steps in this process.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.parts.executor
    }

    /// Returns the parts of the agent that an engine needs.
    #[must_use]
    pub fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }
}

impl<I: Serialize + ?Sized, O: DeserializeOwned + 'static> Agent<I, O> {
    /// Runs the agent in this process, and keeps nothing.
    ///
    /// # Errors
    ///
    /// [`RunFailure::NobodyToAsk`] as soon as the run waits without end for an answer that cannot be given here: start
    /// such a run with [`run_stream`](Self::run_stream), and answer. If the agent's definition shows that it may
    /// ask a person, nothing is started. Otherwise the errors of [`Run::result`].
    pub async fn run(&self, input: &I) -> Result<O, RunFailure> {
        self.run_to_its_end(input).await?.into_value()
    }

    /// Runs the agent as [`run`](Self::run) does, and returns everything that is known of the ended run.
    pub(crate) async fn run_to_its_end(&self, input: &I) -> Result<Finished<O>, RunFailure> {
        if self.parts.may_wait_for_a_person() {
            return Err(RunFailure::NobodyToAsk {
                agent: self.name().to_owned(),
                asked: None,
            });
        }
        let mut run = self.run_stream(input).await?;
        let mut unanswered = Unanswered::of(run.run_id(), self.name());
        while let Some(item) = run.next().await {
            if let RunItem::Event(event) = item? {
                unanswered.check(&event)?;
            }
        }
        run.finished()
    }

    /// Starts a run as [`run`](Self::run) does, and returns what happens while it happens. The caller answers the run's
    /// questions.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Input`].
    pub async fn run_stream(&self, input: &I) -> Result<Run<O>, RunFailure> {
        let run_id = uuid::Uuid::now_v7().to_string();
        self.on(&Local::memory()).start(&run_id, input).await
    }

    /// Returns this agent on an engine: runs that are started there are its runs.
    #[must_use]
    pub fn on<'a, E: Engine + ?Sized>(&'a self, engine: &'a E) -> AgentOn<'a, I, O, E> {
        AgentOn {
            agent: self,
            engine,
        }
    }
}

impl<I: ?Sized, O> AnyAgent for Agent<I, O> {
    fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }
}

impl<I: ?Sized, O> Clone for Agent<I, O> {
    fn clone(&self) -> Self {
        Self {
            parts: Arc::clone(&self.parts),
            types: PhantomData,
        }
    }
}

impl<I: ?Sized, O> fmt::Debug for Agent<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("spec", self.spec())
            .finish_non_exhaustive()
    }
}

/// An agent on an engine, made by [`Agent::on`].
pub struct AgentOn<'a, I: ?Sized, O, E: ?Sized> {
    agent: &'a Agent<I, O>,
    engine: &'a E,
}

impl<I: Serialize + ?Sized, O: DeserializeOwned + 'static, E: Engine + ?Sized>
    AgentOn<'_, I, O, E>
{
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
        let request = RunRequest::new(self.agent.name(), prompt(input)?);
        self.start_request(run_id, request).await
    }

    /// Starts a run as [`start`](Self::start) does, with everything that a run can be started with: a tenant, an owner,
    /// labels, and changes to the agent.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start); [`RunFailure::Rejected`] if the agent does not accept the changes.
    pub async fn start_request(
        &self,
        run_id: &str,
        request: RunRequest,
    ) -> Result<Run<O>, RunFailure> {
        let run_id = RunId::new(run_id).map_err(|source| RunFailure::RunId { source })?;
        let narrowed = self.agent.spec().narrowed(&request.overrides);
        narrowed.map_err(RunFailure::Rejected)?;
        let started = self
            .engine
            .start_run(self.agent.parts(), run_id, request)
            .await?;
        Ok(Run::of(started))
    }
}

impl<I: Serialize + ?Sized, O> AgentOn<'_, I, O, Local> {
    /// Starts or resumes a run that the caller executes from one result to the next: see [`Steps`].
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start); [`RunFailure::Client`] if the run is being executed already, or is over.
    pub async fn steps(&self, run_id: &str, input: &I) -> Result<Steps<O>, RunFailure> {
        let run_id = RunId::new(run_id).map_err(|source| RunFailure::RunId { source })?;
        let request = RunRequest::new(self.agent.name(), prompt(input)?);
        self.engine.steps(self.agent.parts(), run_id, request).await
    }
}

impl<I: ?Sized, O, E: ?Sized> fmt::Debug for AgentOn<'_, I, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentOn")
            .field("agent", &self.agent.name())
            .finish_non_exhaustive()
    }
}
