//! What became of calls whose outcome is unknown, asked of their tools before the model or a person learns of it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    CallState, Effect, FailureKind, GuardPoint, OutcomeRequest, PendingCall, RunError, Step,
    StepFailure, ToolOutput,
};

use crate::{AgentMachine, machine::call::CallEvent};

/// How long one attempt to ask a tool may take.
const INQUIRING: Duration = Duration::from_secs(30);

impl AgentMachine {
    /// Has the tool of a call asked what became of it. Returns `false` if the tool cannot answer that.
    pub(crate) fn inquire(&mut self, index: usize, message: &str) -> bool {
        let can_say = self.has_tool_that(index, |tool| tool.outcomes);
        can_say && self.call(index, CallEvent::Lost(message.to_owned()))
    }

    /// The step at this position that asks a tool what became of a call.
    pub(crate) fn question(&self, slot: &PendingCall, position: u32) -> Step {
        let request = OutcomeRequest {
            step: self.step(self.state.turn, slot.position),
            name: slot.call.name.clone(),
            input: slot.call.input.clone(),
        };
        let mut options = self.finding_out(&slot.call, position, INQUIRING);
        options.guards = self.state.agent.names_of_guards(&[GuardPoint::Result]);
        Step::new(Effect::AskOutcome(request), options)
    }

    /// A tool said what became of a call, or that it does not know it.
    pub(crate) fn inquired(
        &mut self,
        index: usize,
        message: &str,
        result: Result<Option<ToolOutput>, StepFailure>,
        now: DateTime<Utc>,
    ) {
        if self.state.ending.is_some() {
            self.call(index, CallEvent::Left);
            return;
        }
        match result {
            // One that waits for something is no outcome.
            Ok(Some(output)) if output.pending.is_none() => {
                if let Some(output) = self.screen(index, output, true) {
                    let output = self.held_back(index, output, true);
                    match output.pending {
                        Some(pending) => self.await_result(index, pending, now),
                        None => self.answer_call(index, output),
                    }
                }
            }
            Err(failure) if is_verdict(failure.kind) => {
                self.fail_call(index, &failure.message, failure.kind);
                self.state.ending = Some(RunError {
                    kind: failure.kind,
                    message: failure.message,
                });
            }
            _ => self.outcome_unknown(index, message, now),
        }
        self.go_on(now);
    }

    /// A call's tool is asked no more: the outcome stays unknown.
    pub(crate) fn leave_inquiry(&mut self, index: usize) {
        let slot = self.state.calls.get(index);
        if let Some(CallState::Unknown(message) | CallState::Inquiring(message)) =
            slot.map(|slot| &slot.state)
        {
            let message = message.clone();
            self.fail_call(index, &message, FailureKind::OutcomeUnknown);
        }
    }
}

/// Returns whether a person who saw the outcome ends the run.
const fn is_verdict(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Guardrail | FailureKind::Terminated)
}
