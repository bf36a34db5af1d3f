//! What can be seen of a run from outside.

use neuron_types::{
    AgentSpec, CallState, CompletionRequest, Message, RunId, RunOutput, RunPhase, RunState, Stage,
};

use crate::AgentMachine;

impl AgentMachine {
    /// The model call as it stands: the whole conversation, and everything else that the model is told.
    #[must_use]
    pub fn request(&self) -> &CompletionRequest {
        &self.state.agent.request
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.state.agent.request.messages
    }

    /// The agent, with the conversation in its request.
    #[must_use]
    pub fn agent(&self) -> &AgentSpec {
        &self.state.agent
    }

    /// Everything that the run is.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The messages that came since the size of the conversation was last known.
    #[must_use]
    pub fn uncounted_messages(&self) -> &[Message] {
        self.messages()
            .get(self.state.counted_messages..)
            .unwrap_or_default()
    }

    /// Whether a person is asked about a call of this turn.
    #[must_use]
    pub fn has_open_tickets(&self) -> bool {
        self.state
            .calls
            .iter()
            .any(|slot| matches!(slot.state, CallState::Asked(_)))
    }

    /// The run's output as far as it has one.
    #[must_use]
    pub fn output(&self, run_id: &RunId, engine: &str) -> RunOutput {
        let state = &self.state;
        let tickets = state.calls.iter().filter_map(|slot| match &slot.state {
            CallState::Asked(ticket) => Some(ticket.clone()),
            _ => None,
        });
        let outcome = match &state.stage {
            Stage::Ended(outcome) => Some(outcome),
            _ => None,
        };
        let waits = if state.waiting_since.is_some() {
            RunPhase::WaitingForApproval
        } else {
            RunPhase::Running
        };
        RunOutput {
            run_id: run_id.clone(),
            engine: engine.to_owned(),
            agent: state.agent.name.clone(),
            state: outcome.map_or(waits, |outcome| outcome.exit_reason.phase()),
            exit_reason: outcome.map(|outcome| outcome.exit_reason),
            output: state.last_text.clone(),
            turns: state.turn,
            usage: state.usage.clone(),
            cost_usd: state.cost_usd,
            error: outcome.and_then(|outcome| outcome.error.clone()),
            approvals: tickets.collect(),
        }
    }
}
