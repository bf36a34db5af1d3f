//! Which executor acts for which agent.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use neuron_types::{
    Decision, Effect, FailureKind, Outcome, Place, RunNotice, RunStatus, StepFailure,
    VerifyOutcome, VerifyRequest,
};

use crate::{Agents, AwaitedAgent, EventSink, Executor, OtherAgents, Sessions, StepScope};

/// The executors of a worker: one for every agent, or one for each of those that it serves. Cheap to clone.
///
/// An executor acts for the agent of its name, whatever definition a run of that agent carries. What a run may ask for
/// is in its definition, and the loop rejects the rest; what is done about it depends on the worker: see
/// [`granting`](Self::granting).
#[derive(Debug, Clone, Default)]
pub struct Executors {
    by_agent: Arc<BTreeMap<String, Executor>>,
    awaited: Awaited,
    /// That of all other agents.
    other: Option<Executor>,
    /// Whether runs fail that begin with a definition from their caller.
    rejects_definitions: bool,
}

/// Executors that are there from some time on, and what is done to each of them then.
#[derive(Clone, Default)]
struct Awaited {
    agents: Arc<BTreeMap<String, (AwaitedAgent, OnceLock<Executor>)>>,
    sink: Option<Arc<dyn EventSink>>,
    place: Option<Place>,
    sessions: Option<Arc<dyn Sessions>>,
}

impl Awaited {
    /// Returns the same agents, with nothing done to their executors yet.
    fn afresh(mut self) -> Self {
        let agents = self.agents.iter();
        let agents = agents.map(|(name, (agent, _))| {
            let fresh = (agent.clone(), OnceLock::new());
            (name.clone(), fresh)
        });
        self.agents = Arc::new(agents.collect());
        self
    }

    fn get(&self, name: &str) -> Option<&Executor> {
        let (agent, changed) = self.agents.get(name)?;
        let executor = agent.executor()?;
        Some(changed.get_or_init(|| {
            let definition = agent.definition().cloned();
            let mut executor = executor.clone().with_definitions(definition);
            if let Some(sink) = &self.sink {
                executor = executor.with_sink(Arc::clone(sink));
            }
            if let Some(sessions) = &self.sessions {
                executor = executor.with_sessions(Arc::clone(sessions));
            }
            match &self.place {
                Some(place) => executor.with_place(place.clone()),
                None => executor,
            }
        }))
    }
}

impl fmt::Debug for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.agents.keys()).finish()
    }
}

/// One executor for every agent.
impl From<Executor> for Executors {
    fn from(executor: Executor) -> Self {
        Self {
            by_agent: Arc::default(),
            awaited: Awaited::default(),
            other: Some(executor),
            rejects_definitions: false,
        }
    }
}

impl Executors {
    /// Returns an executor for each of these agents, by name. Steps of other agents are left to other workers.
    pub fn by_agent(executors: impl IntoIterator<Item = (String, Executor)>) -> Self {
        Self {
            by_agent: Arc::new(executors.into_iter().collect()),
            awaited: Awaited::default(),
            other: None,
            rejects_definitions: false,
        }
    }

    /// Adds agents whose steps are left to other workers until they are served. What an executor may do is then as it was
    /// handed over, see [`Executor::granting`].
    #[must_use]
    pub fn awaiting(mut self, agents: impl IntoIterator<Item = AwaitedAgent>) -> Self {
        let before = self.awaited.agents.values().map(|(agent, _)| agent.clone());
        let all = before.chain(agents);
        let all = all.map(|agent| (agent.name().to_owned(), (agent, OnceLock::new())));
        self.awaited.agents = Arc::new(all.collect());
        self
    }

    /// Sets the sink that receives what the executors report, as [`Executor::with_sink`]. Default is no sink.
    #[must_use]
    pub fn with_sink(self, sink: &Arc<dyn EventSink>) -> Self {
        let mut all = self.each(|executor| executor.clone().with_sink(Arc::clone(sink)));
        all.awaited.sink = Some(Arc::clone(sink));
        all
    }

    fn each(&self, changed: impl Fn(&Executor) -> Executor) -> Self {
        let executors = self.by_agent.iter();
        let by_agent = executors.map(|(name, executor)| (name.clone(), changed(executor)));
        Self {
            by_agent: Arc::new(by_agent.collect()),
            awaited: self.awaited.clone().afresh(),
            other: self.other.as_ref().map(&changed),
            rejects_definitions: self.rejects_definitions,
        }
    }

    /// Sets where the runs of the executors are, as [`Executor::with_place`].
    #[must_use]
    pub fn with_place(self, place: &Place) -> Self {
        let mut all = self.each(|executor| executor.clone().with_place(place.clone()));
        all.awaited.place = Some(place.clone());
        all
    }

    /// Sets the sessions that runs continue, as [`Executor::with_sessions`]. Default is no sessions.
    #[must_use]
    pub fn with_sessions(self, sessions: &Arc<dyn Sessions>) -> Self {
        let mut all = self.each(|executor| executor.clone().with_sessions(Arc::clone(sessions)));
        all.awaited.sessions = Some(Arc::clone(sessions));
        all
    }

    /// Makes runs fail that begin with a definition which their caller gave. Default is to take the definition.
    #[must_use]
    pub fn rejecting_definitions(mut self) -> Self {
        self.rejects_definitions = true;
        self
    }

    /// Restricts the executors of these agents to what the agents may do, as [`Executor::granting`]. The workers of
    /// both engines do this with the agents that they have.
    #[must_use]
    pub fn granting(mut self, agents: &Agents) -> Self {
        let mut by_agent = BTreeMap::clone(&self.by_agent);
        for agent in agents.definitions() {
            let found = self.executor(&agent.name).or(self.other.as_ref());
            if let Some(executor) = found {
                by_agent.insert(agent.name.clone(), executor.clone().granting(agent));
            }
        }
        self.by_agent = Arc::new(by_agent);
        self
    }

    /// Verifies whose a decision is about a run of this status, before the run takes it up, as
    /// [`Executor::judge_decision`]; `None` also if the decision is about no open ticket, or if no executor here acts
    /// for the run's agent.
    #[must_use]
    pub fn judge_decision(&self, status: &RunStatus, decision: &Decision) -> Option<VerifyOutcome> {
        let request = VerifyRequest::of_status(status, decision)?;
        let mut open = status.approvals.iter();
        let ticket = open.find(|open| open.ticket == decision.ticket)?;
        let executor = self.of(&status.agent).ok()?;
        executor.judge_decision(ticket.agent.as_deref(), &request)
    }

    /// Does what a run of this agent asks for, as [`Executor::perform`]. The hooks are notified of these events before.
    /// If what the step needs is not here, the hooks are not notified and nothing is done: a hook is notified of a step
    /// once.
    ///
    /// # Errors
    ///
    /// [`of`](Self::of)'s and those of [`Executor::check`]; what a hook says; and the executor's.
    pub async fn perform(
        &self,
        agent: &str,
        scope: &StepScope,
        effect: &Effect,
        notify: &[RunNotice],
    ) -> Result<Outcome, StepFailure> {
        let executor = self.of_step(agent, scope.agent.as_deref(), effect)?;
        if !notify.is_empty() {
            executor.observe(&scope.run(), notify).await?;
        }
        executor.perform(scope, effect).await
    }

    /// Returns the executor that acts for the agent of this name, if it has what the step needs that does this.
    /// `step_agent` is whose step it is, as in [`StepScope::agent`].
    ///
    /// # Errors
    ///
    /// [`of`](Self::of)'s and those of [`Executor::check`]; `invalid_request` for a definition that the caller of a run
    /// gives, where it is [rejected](Self::rejecting_definitions).
    pub fn of_step(
        &self,
        agent: &str,
        step_agent: Option<&str>,
        effect: &Effect,
    ) -> Result<Executor, StepFailure> {
        if self.rejects_definitions
            && let Effect::Begin(asked) = effect
            && asked.defined.is_some()
        {
            return Err(definition_rejected(agent));
        }
        let executor = self.of(agent)?;
        executor.check(step_agent, effect.needs())?;
        Ok(executor)
    }

    /// Returns the executor that acts for the agent of this name. If it is that agent's own, the executors of the other
    /// agents make the steps of its runs that are [handed over](Executor::beside) to them.
    ///
    /// # Errors
    ///
    /// A failure of kind [`FailureKind::NoWorker`] if no executor here acts for the agent, with the names of the agents
    /// that have one: another worker may serve it.
    pub fn of(&self, agent: &str) -> Result<Executor, StepFailure> {
        if let Some(own) = self.executor(agent) {
            return Ok(own.clone().beside(self.clone()));
        }
        self.other.clone().ok_or_else(|| {
            let known: Vec<&str> = self.by_agent.keys().map(String::as_str).collect();
            let known = match known.as_slice() {
                [] => "it serves none".to_owned(),
                known => format!("it serves {}", known.join(", ")),
            };
            let message = format!("this worker serves no agent {agent:?}: {known}");
            StepFailure::new(FailureKind::NoWorker, message)
        })
    }
}

impl OtherAgents for Executors {
    fn executor(&self, agent: &str) -> Option<&Executor> {
        let awaited = || self.awaited.get(agent);
        self.by_agent.get(agent).or_else(awaited)
    }
}

fn definition_rejected(agent: &str) -> StepFailure {
    StepFailure::new(
        FailureKind::InvalidRequest,
        format!(
            "the run was started with a definition of the agent {agent:?}, and this worker takes names only: what an \
             agent is, its worker knows"
        ),
    )
}

#[cfg(test)]
mod tests {
    use neuron_types::AgentSpec;

    use super::*;

    #[test]
    fn one_executor_acts_for_every_agent_and_others_for_the_agents_of_their_names() {
        let one = Executors::from(Executor::builder().build());
        assert!(one.of("anybody").is_ok());
        let named = ["b", "a"].map(|name| (name.to_owned(), Executor::builder().build()));
        let named = Executors::by_agent(named);
        assert!(named.of("a").is_ok());
        let failure = named.of("c").unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoWorker);
        assert!(failure.retryable);
        assert_eq!(
            failure.message,
            r#"this worker serves no agent "c": it serves a, b"#
        );
        let awaited = AwaitedAgent::new("c");
        let later = named.awaiting([awaited.clone()]);
        let agents = Agents::default().awaiting([awaited.clone()]);
        let failure = later.of("c").unwrap_err();
        assert!(failure.retryable, "{failure:?}");
        assert!(agents.get("c").is_err());
        awaited.serve(AgentSpec::default(), Executor::builder().build());
        assert!(later.of("c").is_ok() && agents.get("c").is_ok());
        let failure = Executors::by_agent([]).of("c").unwrap_err();
        assert!(failure.message.ends_with("it serves none"));
    }
}
