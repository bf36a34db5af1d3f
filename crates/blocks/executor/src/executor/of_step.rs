//! Which executor makes a step of a run whose agent changes.

use std::sync::Arc;

use neuron_types::{AgentSpec, FailureKind, StepFailure};

use super::{Executor, OtherAgents, grants::Grants, list};
use crate::StepScope;

impl Executor {
    /// Sets the executors that make the steps of the runs of this executor, and of later clones, after the runs were
    /// handed over to other agents. Default is this executor itself: for every agent if it is
    /// [granting](Self::granting) nothing, else for those whose [definitions](Self::with_definitions) its worker has.
    ///
    /// [`Executors::of`](crate::Executors::of) does this with all that a worker serves.
    #[must_use]
    pub fn beside(mut self, others: impl OtherAgents + 'static) -> Self {
        self.others = Some(Arc::new(others));
        self
    }

    /// Returns the executor that makes the steps of this agent, with the same sink: its own where `None`. It is one that
    /// takes turns in the run, or one that the run was handed over to.
    pub(super) fn of_step(&self, agent: Option<&str>) -> Result<Self, StepFailure> {
        let Some(agent) = agent else {
            return Ok(self.clone());
        };
        if let Some(member) = self.inner.team.get(agent) {
            let grants = match &self.grants {
                Some(grants) => grants.of_member(agent),
                None => member.grants.clone(),
            };
            return Ok(self.acting_as(member, grants));
        }
        if !self.inner.team.is_empty() {
            let known = list(self.inner.team.keys().map(String::as_str));
            let message = format!("no agent {agent:?} takes turns in this workflow: {known}");
            return Err(StepFailure::new(FailureKind::NoWorker, message));
        }
        if let Some(other) = self.other(agent) {
            return Ok(self.acting_as(other, other.grants.clone()));
        }
        self.acting_for(agent)
    }

    /// Returns the agent whose steps it makes, where it is known.
    pub(super) fn agent(&self) -> Option<&str> {
        let grants = self.grants.as_ref()?;
        Some(grants.definition().name.as_str())
    }

    /// Returns the agent whose step it is, where it is known.
    pub(super) fn agent_of<'a>(&'a self, scope: &'a StepScope) -> Option<&'a str> {
        scope.agent.as_deref().or_else(|| self.agent())
    }

    /// Returns the executor of another agent that the run may be handed over to, if it has one of its own.
    pub(super) fn other(&self, agent: &str) -> Option<&Self> {
        self.others.as_ref()?.executor(agent)
    }

    /// Returns what another executor does in a run of this one.
    fn acting_as(&self, other: &Self, grants: Option<Arc<Grants>>) -> Self {
        Self {
            inner: Arc::clone(&other.inner),
            grants,
            others: self.others.clone(),
            definitions: self.definitions.clone(),
            sink: self.sink.clone(),
            place: self.place.clone(),
            sessions: self.sessions.clone(),
            moved_from: self.moved_from.clone(),
            lent_verifier: match other.own_verifier() {
                Some(_) => None,
                None => self.any_verifier(),
            },
        }
    }

    /// This executor, as it makes the steps of another agent that has no executor of its own.
    fn acting_for(&self, agent: &str) -> Result<Self, StepFailure> {
        let Some(grants) = &self.grants else {
            return Ok(self.clone());
        };
        if grants.definition().name == agent {
            return Ok(self.clone());
        }
        let known: Option<&AgentSpec> = match &self.others {
            Some(_) => None,
            None => self.definitions.as_ref().and_then(|known| known.get(agent)),
        };
        let Some(known) = known else {
            let message = format!(
                "the run was handed over to the agent {agent:?}, which this worker does not serve"
            );
            return Err(StepFailure::new(FailureKind::NoWorker, message));
        };
        Ok(Self {
            grants: Some(Arc::new(grants.of_another(known))),
            ..self.clone()
        })
    }
}
