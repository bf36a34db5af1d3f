//! The definitions of agents, for runs that begin with them or adopt them.

use std::sync::Arc;

use neuron_types::{
    AgentSpec, BeginRequest, Begun, CurrentDefinition, FailureKind, SessionName, StepFailure,
};

use super::{Executor, list};
use crate::{SessionTaker, StepScope, input_mismatch};

impl Executor {
    /// Sets the definitions that the worker of this executor, and of later clones, has now: a run that begins, or is to
    /// adopt the current one, is given it from these. Default is the definition of the agent that the executor is
    /// [granting](Self::granting).
    ///
    /// The doors of local runs do this with their agents.
    #[must_use]
    pub fn with_definitions(mut self, agents: impl IntoIterator<Item = AgentSpec>) -> Self {
        let named = agents.into_iter().map(|agent| (agent.name.clone(), agent));
        self.definitions = Some(Arc::new(named.collect()));
        self
    }

    /// Returns what a run begins with.
    ///
    /// # Errors
    ///
    /// `no_worker` if the agent is not known here; `invalid_request` for a session where none are kept, and those of
    /// [`Sessions::take`](crate::Sessions::take).
    pub(super) async fn begun(
        &self,
        scope: &StepScope,
        asked: &BeginRequest,
    ) -> Result<Begun, StepFailure> {
        let mut begun = self.defined(asked)?;
        // A run that fails at once takes no session.
        if let Some(session) = asked.session.as_ref().filter(|_| begun.mismatch.is_none()) {
            let sessions = self.sessions.as_ref().ok_or_else(|| no_sessions(session))?;
            let taker = SessionTaker {
                session,
                tenant: scope.tags.tenant.as_deref(),
                run_id: &scope.run_id,
            };
            begun.said = sessions.take(taker).await?;
        }
        Ok(begun)
    }

    fn defined(&self, asked: &BeginRequest) -> Result<Begun, StepFailure> {
        let mismatch = |schema: Option<&serde_json::Value>| {
            schema.and_then(|schema| input_mismatch(schema, &asked.given))
        };
        let rates = self.inner.prices.rates(&asked.models);
        if let Some(defined) = &asked.defined {
            return Ok(Begun {
                rates,
                signed: self.knows_approvers(),
                mismatch: mismatch(defined.input.as_ref()),
                ..Begun::default()
            });
        }
        let agent = Box::new(self.as_given(self.known(&asked.agent)?.clone()));
        Ok(Begun {
            mismatch: mismatch(agent.input.as_ref()),
            signed: agent.signed,
            rates,
            definition: Some(agent),
            ..Begun::default()
        })
    }

    /// Checks that the agent of this name is known here.
    pub(super) fn check_agent(&self, name: &str) -> Result<(), StepFailure> {
        let other = self.other(name);
        let is_known = other.is_some_and(|other| other.known(name).is_ok());
        if is_known {
            return Ok(());
        }
        self.known(name).map(drop)
    }

    /// Returns the definition that the worker has now of the agent with this name, or the reason why it has no such
    /// definition. No hook sees it.
    pub(super) fn current_definition(&self, name: &str) -> CurrentDefinition {
        // The agent's own executor knows what its models cost, and who decides.
        let acting = self.other(name).unwrap_or(self);
        let found = acting.known(name).or_else(|_| self.known(name));
        match found {
            Ok(agent) => CurrentDefinition::Here(Box::new(acting.as_given(agent.clone()))),
            Err(failure) => CurrentDefinition::Missing(failure.message),
        }
    }

    fn known(&self, name: &str) -> Result<&AgentSpec, StepFailure> {
        let known = self.definitions.as_deref();
        let granted = self.grants.as_ref().map(|grants| grants.definition());
        let granted = granted.filter(|agent| agent.name == name);
        let found = known.and_then(|known| known.get(name)).or(granted);
        found.ok_or_else(|| {
            let names = known.into_iter().flat_map(|known| known.keys());
            let names = list(names.map(String::as_str));
            let message = format!("there is no agent named {name:?} here (known: {names})");
            StepFailure::new(FailureKind::NoWorker, message)
        })
    }
}

fn no_sessions(session: &SessionName) -> StepFailure {
    let message = format!(
        "the run goes on with the session {session}, and its worker keeps no sessions: say where in its agent file, as \
         `[sessions]` with `to = \"sessions.db\"`"
    );
    StepFailure::new(FailureKind::InvalidRequest, message)
}
