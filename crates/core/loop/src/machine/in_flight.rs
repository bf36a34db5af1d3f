//! The steps of a turn beside its model call: which start next, and what their ends change.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CallState, Effect, Outcome, PendingCall, Preview, RunEvent, Step, StepFailure,
    ToolCall, ToolDefinition, ToolEffects, ToolOutput, VerifyOutcome,
};

use crate::{
    AgentMachine, MachineError,
    machine::call::{CallEvent, is_running},
};

impl AgentMachine {
    /// The steps that start now: verifications, questions for outcomes, previews, calls. Nothing but decisions is looked at
    /// while nothing goes on until a person decides.
    pub(crate) fn starting(&self) -> Vec<Step> {
        let mut positions = self.next_own_call()..;
        let verifications = self.verifiable().zip(positions.by_ref());
        let mut steps: Vec<Step> = verifications
            .filter_map(|(open, position)| self.verification(open, position))
            .collect();
        steps.extend(self.due().into_iter().filter_map(|slot| match &slot.state {
            CallState::Unknown(_) => Some(self.question(slot, positions.next()?)),
            CallState::Unseen(_) => Some(self.preview_of(slot, positions.next()?)),
            _ => Some(self.making(slot)),
        }));
        steps
    }

    /// The calls for which a step starts now.
    fn due(&self) -> Vec<&PendingCall> {
        if self.state.halt.is_some() {
            return Vec::new();
        }
        let unknown = self.calls_in(|state| matches!(state, CallState::Unknown(_)));
        let unseen = self.unheld();
        let unseen = unseen.filter(|slot| matches!(slot.state, CallState::Unseen(_)));
        unknown.chain(unseen).chain(self.startable()).collect()
    }

    /// The step that makes a call.
    fn making(&self, slot: &PendingCall) -> Step {
        let step = self.step(self.state.turn, slot.position);
        let options = ActivityOptions {
            agent: self.agent_of_steps(),
            nonce: self.state.lineage.nonce,
            tenant: self.state.tags.tenant.clone(),
            allow: self.state.agent.caller_rules.allow.clone(),
            ..self.state.agent.tool_options(&slot.call, step)
        };
        Step::new(Effect::Tool(slot.call.clone()), options)
    }

    /// How the step at this position finds something out about a call: where the call is made, as a read, and for so long
    /// at most.
    pub(crate) fn finding_out(
        &self,
        call: &ToolCall,
        position: u32,
        at_most: Duration,
    ) -> ActivityOptions {
        let step = self.step(self.state.turn, position);
        let of_call = self.state.agent.tool_options(call, step);
        ActivityOptions {
            step,
            effects: ToolEffects::ReadOnly,
            start_to_close_timeout: of_call.start_to_close_timeout.min(at_most),
            retry_policy: of_call.retry_policy,
            activity: of_call.activity,
            ..self.model_options()
        }
    }

    /// Whether the tool of a call is one that does this.
    pub(crate) fn has_tool_that(&self, index: usize, does: fn(&ToolDefinition) -> bool) -> bool {
        let slot = self.state.calls.get(index);
        let mut tools = self.state.agent.head.tools.iter();
        slot.is_some_and(|slot| tools.any(|tool| tool.name == slot.call.name && does(tool)))
    }

    /// Whether any step can start.
    pub(crate) fn can_start(&self) -> bool {
        self.verifiable().next().is_some() || !self.due().is_empty()
    }

    /// The steps of [`starting`](Self::starting) are being started.
    pub(crate) fn started(&mut self) {
        self.verifications_started();
        // Which can start is asked before any has.
        let due: Vec<u32> = self.due().iter().map(|slot| slot.position).collect();
        for position in due {
            let mut slots = self.state.calls.iter();
            if let Some(index) = slots.position(|slot| slot.position == position) {
                self.call(index, CallEvent::Started);
                self.tell_called(index);
            }
        }
    }

    /// Tells that a call is made, if it is what started.
    fn tell_called(&mut self, index: usize) {
        let slot = self.state.calls.get(index);
        if let Some(PendingCall { call, .. }) = slot.filter(|slot| is_running(&slot.state)) {
            let event = RunEvent::ToolCalled {
                turn: self.state.turn,
                call_id: call.id.clone(),
                tool: call.name.clone(),
                args: call.input.clone(),
            };
            self.emit(event);
        }
    }

    /// Whether anybody still wants to know what the step in flight at this position of the turn comes to: it is a call, a
    /// ticket is open that it verifies a decision about, somebody is to be asked about the call that it previews, or the
    /// outcome that it asks for is unknown.
    #[must_use]
    pub fn wants(&self, position: u32) -> bool {
        self.found_at(position).is_some() || self.is_verifying(position)
    }

    /// The call for which a step is in flight at this position of the turn: its place in the batch, and where it stands.
    fn found_at(&self, position: u32) -> Option<(usize, &CallState)> {
        let mut slots = self.state.calls.iter().enumerate();
        let slot = slots.find(|(_, slot)| slot.in_flight == Some(position));
        slot.map(|(index, slot)| (index, &slot.state))
    }

    /// A step in flight came to its end.
    ///
    /// # Errors
    ///
    /// [`MachineError::UnknownStep`] and [`MachineError::OtherKind`].
    pub(crate) fn ended(
        &mut self,
        position: u32,
        result: Result<Outcome, StepFailure>,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        let other = |outcome: &Outcome| MachineError::OtherKind {
            position,
            kind: outcome.kind().as_str(),
        };
        let found = self.found_at(position);
        match found.map(|(index, state)| (index, state.clone())) {
            Some((index, CallState::Running)) => {
                let result: Result<ToolOutput, _> = match result {
                    Ok(Outcome::Tool(output)) => Ok(output),
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Err(failure),
                };
                self.tool_answered(index, result, now);
            }
            Some((index, CallState::Previewing(asking))) => {
                let preview = match result {
                    Ok(Outcome::Preview(preview)) => preview,
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Some(unseen(&failure)),
                };
                self.previewed(index, asking, preview, now);
            }
            Some((index, CallState::Inquiring(message))) => {
                let result = match result {
                    Ok(Outcome::AskOutcome(output)) => Ok(output),
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Err(failure),
                };
                self.inquired(index, &message, result, now);
            }
            _ if self.is_verifying(position) => {
                let outcome = match result {
                    Ok(Outcome::Verify(outcome)) => outcome,
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => VerifyOutcome::rejected(format!(
                        "it could not be found out whose it is: {failure}"
                    )),
                };
                self.decided(position, outcome, now)?;
            }
            _ => return Err(MachineError::UnknownStep { position }),
        }
        Ok(())
    }
}

/// What the person reads who is asked about a call of which nobody could find out what it would do.
fn unseen(failure: &StepFailure) -> Preview {
    Preview {
        text: Some(format!(
            "it could not be found out what the call would do: {failure}"
        )),
        ..Preview::default()
    }
}
