//! Carrying out the effects of a turn.

use neuron_turn::Effect;
use neuron_types::{
    DurableContext, DurableError, End, FailureKind, Observed, Outcome, RunId, RunSignal, StepId,
};
use serde_json::Value;

use super::{
    agent_answer::AgentAnswer, door::Door, text::to_text, turn::Turn, workflow_error::WorkflowError,
};

/// The name of the signal that is sent to a run for [`Effect::Signal`]. A custom workflow waits for it. An agent's run
/// takes no signal of this name: what a model writes neither decides nor cancels anything.
pub const EFFECT_SIGNAL: &str = "signal";

/// The positions of the steps that send signals, counted upwards from here: behind those of all other steps of a workflow.
const SIGNALS: u32 = StepId::OWN_CALLS + StepId::OWN_CALLS / 2;

/// The result of carrying out the effects of a turn. Made by [`Door::carry_out`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CarriedOut {
    /// The answers of the agents that got a delegation, in the order of the effects.
    pub answers: Vec<AgentAnswer>,
    /// The effects that are left to the workflow, in their order: memory, handoffs, logs and custom effects,
    /// delegations to agents that the workflow does not have, and signals to runs that do not exist.
    pub left: Vec<Effect>,
}

impl<D: DurableContext> Door<D> {
    /// Carries out the signals and delegations of a turn, and returns the answers and the remaining effects.
    ///
    /// Signals are sent first, under the name [`EFFECT_SIGNAL`], to the runs whose ids are their targets. Then each
    /// delegation starts a run of an agent of the workflow, as [`start_agent`](Self::start_agent) does, and all are
    /// waited for. A replay does nothing twice.
    ///
    /// # Errors
    ///
    /// Those of [`all`](Self::all), and the error of sending a signal.
    pub async fn carry_out(
        &self,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<CarriedOut, WorkflowError> {
        let (mut left, mut delegated) = (Vec::new(), Vec::new());
        for effect in effects {
            match &effect {
                Effect::Signal { target, payload } => {
                    if !self.send(target, payload).await? {
                        left.push(effect);
                    }
                }
                Effect::Delegate { agent, input } if self.member(agent).is_ok() => {
                    let prompt = to_text(input).map_err(WorkflowError::Output)?;
                    delegated.push((agent.clone(), prompt));
                }
                _ => left.push(effect),
            }
        }
        let answers = self.all(delegated).await?;
        Ok(CarriedOut { answers, left })
    }

    /// Sends a run the payload of a signal, and returns whether the run exists.
    async fn send(&self, target: &str, payload: &Value) -> Result<bool, WorkflowError> {
        let Ok(run) = RunId::new(target) else {
            return Ok(false);
        };
        let _turn = Turn::take(self).ok_or_else(|| WorkflowError::NotItsTurn {
            agent: self.workflow.name.clone(),
        })?;
        let number = self.children().next_signal();
        let step = StepId::new(0, SIGNALS.saturating_add(number));
        let signal = RunSignal {
            run,
            name: EFFECT_SIGNAL.to_owned(),
            payload: payload.clone(),
        };
        let door = self.engine_door();
        let effect = neuron_types::Effect::Signal(Box::new(signal));
        let handle = door.start(self.to_another(effect, step));
        match door.next(&[handle], &[]).await? {
            Observed::Ended(_, End::Effect(Ok(Outcome::Signal))) => Ok(true),
            Observed::Ended(_, End::Effect(Err(failure)))
                if failure.kind == FailureKind::InvalidRequest =>
            {
                Ok(false)
            }
            Observed::Ended(_, End::Effect(Err(failure))) => {
                Err(DurableError::from(failure).into())
            }
            other => Err(other.unexpected().into()),
        }
    }
}
