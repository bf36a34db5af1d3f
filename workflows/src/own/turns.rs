//! Turns of the turn protocol, as steps of a workflow.

use neuron_context::Strategy;
use neuron_loop::AgentLoop;
use neuron_turn::{Recording, TurnInput, TurnOutput};
use neuron_types::{Conversation, DurableContext, DurableError, ExitReason};

use super::{door::Door, scoped_agent::ScopedAgent, turn::Turn, workflow_error::WorkflowError};

impl<D: DurableContext> Door<D> {
    /// Runs a turn of one of the workflow's agents, after this history, and returns its result with its effects.
    /// Nothing is carried out: [`carry_out`](Self::carry_out) does that.
    ///
    /// The agent requests effects by the [effect tools](neuron_turn::EffectTool) among its tools. It remembers nothing
    /// of other turns; no session is read. Each step has one attempt, besides attempts that are lost with their worker,
    /// and decisions reach the turn as they reach an agent that is [asked](ScopedAgent::ask).
    ///
    /// # Errors
    ///
    /// [`WorkflowError::Turn`] if the turn fails; [`WorkflowError::UnknownAgent`], [`WorkflowError::NotItsTurn`],
    /// [`WorkflowError::HistoryFull`], or the error that keeps the door from continuing: the cancelling of the run
    /// above all.
    pub async fn turn(
        &self,
        agent: &str,
        history: &Conversation,
        input: &TurnInput,
    ) -> Result<TurnOutput, WorkflowError> {
        let (scope, spec) = self.member(agent)?;
        if self.engine_door().must_continue_as_new() {
            return Err(WorkflowError::HistoryFull);
        }
        let turn = Turn::take(self).ok_or_else(|| WorkflowError::NotItsTurn {
            agent: agent.to_owned(),
        })?;
        let spec = input.agent(spec);
        let strategy = Strategy::from_policy(&spec.context);
        let mut asked = ScopedAgent::new(self, scope, spec);
        let mut state = asked.start(input.message.clone(), turn.before);
        let said = history.iter().chain(state.conversation.iter());
        state.conversation = said.cloned().collect();
        let recording = Recording::new(self);
        let output = AgentLoop::resume(&recording, strategy, state).run().await?;
        if output.exit_reason == Some(ExitReason::Cancelled) {
            let reason = output.error.map(|error| error.message);
            return Err(DurableError::Cancelled { reason }.into());
        }
        let output = recording.record().into_output(output, self.now());
        output.map_err(|source| WorkflowError::Turn {
            agent: agent.to_owned(),
            source,
        })
    }
}
