//! What became of calls whose outcome is unknown, asked of their tools before the model or a person learns of it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CallState, Effect, FailureKind, OutcomeRequest, PendingCall, RunError, Step,
    StepFailure, ToolCall, ToolEffects, ToolOutput,
};

use crate::{AgentMachine, machine::call::CallEvent};

/// How long one attempt to ask a tool may take.
const INQUIRING: Duration = Duration::from_secs(30);

impl AgentMachine {
    /// Has the tool of a call asked what became of it. Returns false if the tool cannot say that.
    pub(crate) fn inquire(&mut self, index: usize, failure: &StepFailure) -> bool {
        let Some(slot) = self.state.calls.get(index) else {
            return false;
        };
        let mut tools = self.state.agent.head.tools.iter();
        let can_say = tools.any(|tool| tool.outcomes && tool.name == slot.call.name);
        can_say && self.call(index, CallEvent::Lost(failure.message.clone()))
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

    /// A tool said what became of a call, or that it does not know it.
    pub(crate) fn inquired(
        &mut self,
        index: usize,
        message: String,
        result: Result<Option<ToolOutput>, StepFailure>,
        now: DateTime<Utc>,
    ) {
        if self.state.ending.is_some() {
            self.call(index, CallEvent::Left);
            return;
        }
        let unknown = StepFailure::new(FailureKind::OutcomeUnknown, message);
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
    }

    /// A call's tool is asked no more: the outcome stays unknown.
    pub(crate) fn leave_inquiry(&mut self, index: usize) {
        let slot = self.state.calls.get(index);
        if let Some(CallState::Unknown(message) | CallState::Inquiring(message)) =
            slot.map(|slot| &slot.state)
        {
            let output = ToolOutput::error(message.clone());
            self.fail_call(index, output, FailureKind::OutcomeUnknown);
        }
    }
}

/// Whether somebody who saw the outcome ends the run.
const fn is_verdict(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Guardrail | FailureKind::Terminated)
}
