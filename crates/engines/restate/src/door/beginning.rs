//! What a segment of a run begins with, and how a run that only names its agent comes to a definition.

use std::time::Duration;

use neuron_engine::definition_rejected;
use neuron_types::{
    AgentRef, AgentSpec, DurableContext as _, DurableError, RunRequest, RunStart, RunState, RunTags,
};

use crate::door::{
    agent_given::{AgentGiven, Sought},
    durable_context::RestateDurableContext,
};

/// How long after the first look for an agent the second follows. Each further delay is twice as long.
const FIND_AGAIN: Duration = Duration::from_secs(1);

/// The longest of them: a look takes four entries.
const FIND_AGAIN_AT_MOST: Duration = Duration::from_secs(60);

/// What a segment of a run begins with.
#[expect(clippy::large_enum_variant, reason = "there is one a segment")]
pub(crate) enum Beginning {
    New(RunRequest),
    Continued(RunState),
}

impl Beginning {
    /// The agent's name.
    pub(crate) fn agent(&self) -> &str {
        match self {
            Self::New(request) => request.agent.name(),
            Self::Continued(state) => &state.agent.name,
        }
    }

    /// Whose a new run is. What was handed over says it already.
    pub(crate) fn tags(&self) -> RunTags {
        match self {
            Self::New(request) => request.tags.clone(),
            Self::Continued(_) => RunTags::default(),
        }
    }

    /// What has to be known of the agent when the segment begins.
    pub(crate) fn agent_given(&self) -> AgentGiven {
        match self {
            Self::New(request) => match request.agent {
                AgentRef::Name(_) => AgentGiven::ByName,
                AgentRef::Definition(_) => AgentGiven::Whole,
            },
            Self::Continued(_) => AgentGiven::Before,
        }
    }
}

impl RestateDurableContext<'_> {
    /// Returns where the workflow starts in this segment. `sought` is what its first step says of the agent.
    pub(crate) async fn run_start(
        &self,
        beginning: Beginning,
        sought: Sought,
    ) -> Result<RunStart, DurableError> {
        let request = match beginning {
            Beginning::New(request) => request,
            Beginning::Continued(state) => return Ok(state.into()),
        };
        let agent = match (&request.agent, sought.found) {
            (AgentRef::Definition(definition), _) if sought.is_rejected => {
                return Err(definition_rejected(&definition.name).into());
            }
            (AgentRef::Definition(definition), _) => {
                let mut definition = AgentSpec::clone(definition);
                definition.signed |= sought.is_signed;
                definition
            }
            (AgentRef::Name(_), Some(Ok(definition))) => *definition,
            (AgentRef::Name(name), found) => {
                let why = found.and_then(Result::err).unwrap_or_default();
                self.seek(name, why).await?
            }
        };
        let mut input = request.with_agent(agent);
        if let Some(schema) = &input.agent.input {
            input.mismatch = self.check_input(schema, &input.prompt.text()).await?;
        }
        Ok(RunStart::New(input))
    }

    /// Looks for an agent until it is there, or the run is cancelled. Restate calls the deployment that the run began
    /// at: a worker with the agent has to come there.
    async fn seek(&self, name: &str, mut why: String) -> Result<AgentSpec, DurableError> {
        let mut delay = FIND_AGAIN;
        loop {
            self.segment.ledger().block(why);
            self.segment.flush();
            self.sleep(delay).await?;
            delay = (delay * 2).min(FIND_AGAIN_AT_MOST);
            match self.find_agent(name).await? {
                Ok(definition) => return Ok(*definition),
                Err(still) => why = still,
            }
        }
    }
}
