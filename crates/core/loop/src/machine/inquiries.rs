//! What became of calls whose outcome is unknown, asked of their tools before the model or a person learns of it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CallState, Effect, FailureKind, Inquiring, OutcomeRequest, PendingCall,
    RunError, Step, StepFailure, ToolCall, ToolEffects, ToolOutput,
};

use crate::{AgentMachine, MachineError, machine::agent_machine::is_inquiring};

/// How long one attempt to ask a tool may take.
const INQUIRING: Duration = Duration::from_secs(30);

impl AgentMachine {
    /// Has the tool of a call asked what became of it. Returns false if the tool cannot say that.
    pub(crate) fn inquire(&mut self, index: usize, failure: &StepFailure) -> bool {
        let Some(slot) = self.state.calls.get_mut(index) else {
            return false;
        };
        let mut tools = self.state.agent.head.tools.iter();
        let can_say = tools.any(|tool| tool.outcomes && tool.name == slot.call.name);
        if can_say {
            slot.state = CallState::Inquiring(Inquiring {
                message: failure.message.clone(),
                position: None,
            });
        }
        can_say
    }

    /// The calls whose tools are to be asked now.
    pub(crate) fn inquirable(&self) -> impl Iterator<Item = &PendingCall> {
        let slots = self.state.calls.iter();
        slots.filter(|slot| is_inquired_at(slot, None))
    }

    /// The step at this position that asks a tool what became of a call.
    pub(crate) fn question(&self, slot: &PendingCall, position: u32) -> Step {
        let request = OutcomeRequest {
            step: self.step(self.state.turn, slot.position),
            name: slot.call.name.clone(),
            input: slot.call.input.clone(),
        };
        let options = self.inquiring_options(position, &slot.call);
        Step::new(Effect::AskOutcome(request), options)
    }

    /// Made where the call is, as a read.
    fn inquiring_options(&self, position: u32, call: &ToolCall) -> ActivityOptions {
        let step = self.step(self.state.turn, position);
        let ActivityOptions {
            start_to_close_timeout,
            retry_policy,
            activity,
            ..
        } = self.state.agent.tool_options(call, step);
        ActivityOptions {
            step,
            effects: ToolEffects::ReadOnly,
            start_to_close_timeout: start_to_close_timeout.min(INQUIRING),
            retry_policy,
            activity,
            ..self.model_options()
        }
    }

    /// The questions that can be asked are being asked.
    pub(crate) fn questions_started(&mut self) {
        let calls: Vec<u32> = self.inquirable().map(|slot| slot.position).collect();
        for call in calls {
            let position = self.next_own_call();
            let mut slots = self.state.calls.iter_mut();
            let slot = slots.find(|slot| slot.position == call);
            if let Some(CallState::Inquiring(inquiring)) = slot.map(|slot| &mut slot.state) {
                inquiring.position = Some(position);
                self.state.own_calls = self.state.own_calls.saturating_add(1);
            }
        }
    }

    /// Whether the step at this position asks for the outcome of a call, which is still unknown.
    pub(crate) fn is_inquiring(&self, position: u32) -> bool {
        let mut slots = self.state.calls.iter();
        slots.any(|slot| is_inquired_at(slot, Some(position)))
    }

    /// Nobody knows what became of the questions in flight: they are asked again.
    pub(crate) fn inquire_again(&mut self) {
        for slot in &mut self.state.calls {
            if let CallState::Inquiring(inquiring) = &mut slot.state {
                inquiring.position = None;
            }
        }
    }

    /// A tool said what became of a call, or that it does not know it.
    pub(crate) fn inquired(
        &mut self,
        position: u32,
        result: Result<Option<ToolOutput>, StepFailure>,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        let mut slots = self.state.calls.iter_mut().enumerate();
        let (index, slot) = slots
            .find(|(_, slot)| is_inquired_at(slot, Some(position)))
            .ok_or(MachineError::UnknownStep { position })?;
        let CallState::Inquiring(inquiring) = &mut slot.state else {
            return Ok(());
        };
        inquiring.position = None;
        if self.state.ending.is_some() {
            return Ok(());
        }
        let unknown = StepFailure::new(FailureKind::OutcomeUnknown, inquiring.message.clone());
        match result {
            // One that waits for something is no outcome.
            Ok(Some(output)) if output.pending.is_none() => self.answer_call(index, output),
            Err(failure) if is_verdict(failure.kind) => {
                let output = ToolOutput::error(failure.message.clone());
                self.fail_call(index, output, failure.kind);
                self.state.ending = Some(RunError {
                    kind: failure.kind,
                    message: failure.message,
                });
            }
            _ => self.outcome_unknown(index, &unknown, now),
        }
        self.go_on(now);
        Ok(())
    }

    /// No tool is asked any more: the outcomes stay unknown.
    pub(crate) fn leave_inquiries(&mut self) {
        for index in self.positions(is_inquiring) {
            let slot = self.state.calls.get(index);
            if let Some(CallState::Inquiring(inquiring)) = slot.map(|slot| &slot.state) {
                let output = ToolOutput::error(inquiring.message.clone());
                self.fail_call(index, output, FailureKind::OutcomeUnknown);
            }
        }
    }
}

/// Whether somebody who saw the outcome ends the run.
const fn is_verdict(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Guardrail | FailureKind::Terminated)
}

/// Whether the step at this position asks for the outcome of that call; with `None`, whether none does as yet.
fn is_inquired_at(slot: &PendingCall, position: Option<u32>) -> bool {
    matches!(&slot.state, CallState::Inquiring(inquiring) if inquiring.position == position)
}
