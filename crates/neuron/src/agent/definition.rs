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

/// An agent: what it is, and what acts for it. It goes to every engine as it is; cheap to clone.
///
/// `I` is what a run is given and `O` what it comes to. See [`builder`](Agent::builder) for how it is made.
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

    /// Returns its name, by which runs name it on every engine.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.spec.name
    }

    /// Returns what it is, as runs record it.
    #[must_use]
    pub fn spec(&self) -> &AgentSpec {
        &self.parts.spec
    }

    /// Returns what acts for it in this process.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.parts.executor
    }

    /// Returns what an engine needs of it.
    #[must_use]
    pub fn parts(&self) -> &Arc<Parts> {
        &self.parts
    }
}

impl<I: Serialize + ?Sized, O: DeserializeOwned + 'static> Agent<I, O> {
    /// Runs it in this process, and keeps nothing.
    ///
    /// # Errors
    ///
    /// [`RunFailure::NobodyToAsk`] as soon as the run waits for an answer that nobody can give, without end: start such
    /// a run with [`run_stream`](Self::run_stream), and answer. If the agent says that it asks, nothing is started. Else
    /// as [`Run::result`].
    pub async fn run(&self, input: &I) -> Result<O, RunFailure> {
        self.run_to_its_end(input).await?.into_value()
    }

    /// As [`run`](Self::run), with all that is known of a run that has ended.
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

    /// As [`run`](Self::run), and hands out what happens while it happens. The caller answers what the run asks.
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

/// An agent on an engine. Made by [`Agent::on`].
pub struct AgentOn<'a, I: ?Sized, O, E: ?Sized> {
    agent: &'a Agent<I, O>,
    engine: &'a E,
}

impl<I: Serialize + ?Sized, O: DeserializeOwned + 'static, E: Engine + ?Sized>
    AgentOn<'_, I, O, E>
{
    /// Starts a run, or attaches to the run of this id if it was started with the same agent and input, and for the same tenant
    /// and owner, with the same labels, overrides and preamble: see
    /// [`RunRequest::is_same_start`](neuron_types::RunRequest::is_same_start). That holds on every engine, and for a run that
    /// is over.
    ///
    /// # Errors
    ///
    /// [`RunFailure::RunId`], [`RunFailure::Input`], [`RunFailure::OtherRun`] if the id belongs to a run that
    /// was started with anything else, or what keeps the engine from starting it.
    pub async fn start(&self, run_id: &str, input: &I) -> Result<Run<O>, RunFailure> {
        let request = RunRequest::new(self.agent.name(), prompt(input)?);
        self.start_request(run_id, request).await
    }

    /// As [`start`](Self::start), with all that a run can be started with: a tenant, an owner, labels, and what the run
    /// changes of the agent.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start); [`RunFailure::Rejected`] if the agent does not take what is changed of it.
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
    /// Starts a run, or resumes it, to be taken by the caller from one thing to the next: see [`Steps`].
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start); [`RunFailure::Client`] if the run executes already, or is over.
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
