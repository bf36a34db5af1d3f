//! How a run that only names its agent comes to a definition.

use neuron_engine::{definition_rejected, json_bytes};
use neuron_types::{
    AgentRef, AgentSpec, DurableError, FailureKind, RunStart, StepFailure, ToolEffects,
};

use crate::{
    activities::agent_activities::AgentActivities,
    door::durable_context::TemporalDurableContext,
    wire::{
        activity_options,
        failure::step_failure,
        history_input::{HistoryInput, Opening},
    },
};

/// A mark in a history: the run was started with a definition, which its worker does not take from callers.
const REJECTED: &str = "neuron-definition-rejected";

/// A mark in a history: the run was started with a definition, and decisions about it have to be signed.
const SIGNED: &str = "neuron-signed";

impl<W: 'static> TemporalDurableContext<W> {
    /// Returns where the workflow starts in this history.
    pub(crate) async fn run_start(&self, input: HistoryInput) -> Result<RunStart, DurableError> {
        let request = match input.0 {
            Opening::New(request) => *request,
            Opening::Continued { continued } => return Ok(continued.state.into()),
            Opening::Wrong(reason) => {
                return Err(StepFailure::new(FailureKind::InvalidRequest, reason).into());
            }
            Opening::Unknown(unknown) => return Err(DurableError::engine(unknown.reason)),
        };
        let agent = match &request.agent {
            AgentRef::Definition(definition) => {
                self.accept_definition(&definition.name)?;
                let mut definition = AgentSpec::clone(definition);
                definition.signed |= self.has_signed_decisions(&definition.name);
                definition
            }
            AgentRef::Name(name) => self.definition(name.clone()).await?,
        };
        let mut input = request.with_agent(agent);
        if let Some(schema) = &input.agent.input {
            input.mismatch = self.check_input(schema, input.prompt.text()).await?;
        }
        Ok(RunStart::New(input))
    }

    /// Rejects the definition of an agent, unless the worker that began the run takes definitions from callers. A replay
    /// goes by what is in the history.
    fn accept_definition(&self, agent: &str) -> Result<(), DurableError> {
        let accepts = self.ctx.state(|host| host.hosting.accepts_definitions);
        if self.began_with(REJECTED, !accepts) {
            return Err(definition_rejected(agent).into());
        }
        Ok(())
    }

    /// Whether the worker that began the run knows approvers of this agent. A replay goes by what is in the history.
    fn has_signed_decisions(&self, agent: &str) -> bool {
        let signed = self
            .ctx
            .state(|host| host.hosting.executors.verify_decisions_of(agent));
        self.began_with(SIGNED, signed)
    }

    /// Whether the history has this mark: it is set where it is `wanted` when the run begins, and a replay goes by what is
    /// there.
    fn began_with(&self, mark: &str, wanted: bool) -> bool {
        (self.ctx.is_replaying() || wanted) && self.ctx.patched(mark)
    }

    /// Asks for the definition of an agent: the worker that has the run first, which costs next to nothing. Where that
    /// lacks it, an activity asks one worker after the other for as long as it takes.
    async fn definition(&self, agent: String) -> Result<AgentSpec, DurableError> {
        self.check()?;
        let options = activity_options::find_here(&self.stop);
        let asked = self
            .ctx
            .execute_local_activity(AgentActivities::find, agent.clone(), options);
        let definition = match asked.await {
            Ok(definition) => {
                self.steps
                    .was_made_beside(json_bytes(&definition).unwrap_or_default());
                definition
            }
            Err(error) => {
                self.check()?;
                self.steps
                    .block(&step_failure(&error, ToolEffects::ReadOnly));
                let options = activity_options::find(&agent, &self.stop);
                let asked = self
                    .ctx
                    .execute_activity(AgentActivities::find, agent, options);
                let definition = asked.await;
                self.steps.was_answered();
                self.check()?;
                definition.map_err(|error| step_failure(&error, ToolEffects::ReadOnly))?
            }
        };
        let bytes = json_bytes(&definition).unwrap_or_default();
        self.steps.view(|view| view.fill.add(bytes));
        Ok(definition)
    }
}
