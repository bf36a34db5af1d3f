//! The tool calls of one turn: allowed, asked about, made, answered.

use chrono::{DateTime, Utc};
use neuron_types::{
    CallState, ContentItem, ExitReason, FailureKind, OnUnknownOutcome, PermissionDecision,
    RunEvent, RunPhase, Stage, StepFailure, ToolOutput, ToolResultBlock,
};

use crate::{
    AgentMachine,
    machine::{is_open, is_ready, is_unjudged},
};

impl AgentMachine {
    pub(crate) fn authorized(&mut self, decisions: Vec<PermissionDecision>, now: DateTime<Utc>) {
        let unjudged = self.positions(is_unjudged);
        for (index, decision) in unjudged.into_iter().zip(decisions) {
            match decision {
                PermissionDecision::Deny(reason) => {
                    self.refuse_call(index, &format!("denied: {reason}"));
                }
                _ if self.is_out_of_calls() => {
                    self.state.limit = Some(ExitReason::MaxToolCalls);
                    self.refuse_call(
                        index,
                        "not called: the run's limit of tool calls is reached",
                    );
                }
                PermissionDecision::Allow => self.make_ready(index),
                PermissionDecision::Ask(reason) => self.ask(index, reason, now),
            }
        }
        self.state.stage = Stage::Tools;
        self.settle(now);
    }

    /// Counts the calls made so far and those that may still be made in this turn.
    fn is_out_of_calls(&self) -> bool {
        let open = |state: &CallState| matches!(state, CallState::Ready | CallState::Asked(_));
        let pending = self
            .state
            .calls
            .iter()
            .filter(|slot| open(&slot.state))
            .count();
        let taken = u32::try_from(pending)
            .unwrap_or(u32::MAX)
            .saturating_add(self.state.tool_calls);
        self.state
            .agent
            .limits
            .tool_calls
            .is_some_and(|most| taken >= most)
    }

    pub(crate) fn tools_answered(
        &mut self,
        results: Vec<Result<ToolOutput, StepFailure>>,
        now: DateTime<Utc>,
    ) {
        let mut fatal = None;
        for (index, result) in self.positions(is_ready).into_iter().zip(results) {
            self.state.tool_calls = self.state.tool_calls.saturating_add(1);
            match result {
                Ok(output) => self.finish_call(index, output, None),
                Err(failure) => {
                    if ends_run(failure.kind) && fatal.is_none() {
                        fatal = Some(failure.clone());
                    }
                    self.call_failed(index, &failure, now);
                }
            }
        }
        if let Some(failure) = fatal {
            self.fail(failure.kind, failure.message, now);
            return;
        }
        if self.is_out_of_time(now) && self.calls_in(is_open).next().is_some() {
            self.state.limit = Some(ExitReason::MaxDuration);
            self.refuse_open_calls("not called: the run's time is up");
        }
        self.settle(now);
    }

    fn call_failed(&mut self, index: usize, failure: &StepFailure, now: DateTime<Utc>) {
        let unknown = failure.kind == FailureKind::OutcomeUnknown;
        if unknown && self.state.agent.on_unknown_outcome == OnUnknownOutcome::AskPerson {
            let reason = format!(
                "{}; approve to make the call again, deny to leave it",
                failure.message
            );
            self.open_ticket(index, reason, now);
        } else {
            let output = ToolOutput::error(failure.message.clone());
            self.finish_call(index, output, Some(failure.kind));
        }
    }

    /// Ends the turn if every call is answered, and says so if only people are waited for.
    pub(crate) fn settle(&mut self, now: DateTime<Utc>) {
        if self.calls_in(is_open).next().is_none() {
            self.push_results();
            let turn = self.state.turn;
            self.tell(RunEvent::TurnEnded { turn });
            self.state.stage = Stage::TakeInput { closing: false };
        } else if self.calls_in(is_ready).next().is_none() && self.state.waiting_since.is_none() {
            self.state.waiting_since = Some(now);
            self.tell(RunEvent::Waiting {
                state: RunPhase::WaitingForApproval,
            });
        }
    }

    pub(crate) fn stop_waiting(&mut self, now: DateTime<Utc>) {
        if let Some(since) = self.state.waiting_since.take() {
            let waited = u64::try_from((now - since).num_milliseconds()).unwrap_or(0);
            self.state.waited_ms = self.state.waited_ms.saturating_add(waited);
        }
    }

    pub(crate) fn make_ready(&mut self, index: usize) {
        let turn = self.state.turn;
        if let Some(slot) = self.state.calls.get_mut(index) {
            slot.state = CallState::Ready;
            let event = RunEvent::ToolCalled {
                turn,
                call_id: slot.call.id.clone(),
                tool: slot.call.name.clone(),
                args: slot.call.input.clone(),
            };
            self.tell(event);
        }
    }

    /// Answers a call without making it.
    pub(crate) fn refuse_call(&mut self, index: usize, reason: &str) {
        self.finish_call(index, ToolOutput::error(reason), None);
    }

    pub(crate) fn refuse_open_calls(&mut self, reason: &str) {
        for index in self.positions(is_open) {
            self.refuse_call(index, reason);
        }
    }

    fn finish_call(&mut self, index: usize, output: ToolOutput, failure: Option<FailureKind>) {
        let turn = self.state.turn;
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        let mut content = output.content;
        if slot.edited {
            let note = format!("[a person changed the arguments to {}]", slot.call.input);
            content.insert(0, ContentItem::Text(note));
        }
        slot.state = CallState::Done(ToolResultBlock {
            tool_use_id: slot.call.id.clone(),
            name: slot.call.name.clone(),
            content,
            is_error: output.is_error,
        });
        let event = RunEvent::ToolFinished {
            turn,
            call_id: slot.call.id.clone(),
            tool: slot.call.name.clone(),
            is_error: output.is_error,
            failure,
        };
        self.tell(event);
    }

    /// Where in the batch the calls in this state are. In a sequential batch only the first ready call is
    /// made at a time, and `zip` with one result takes just that one.
    pub(crate) fn positions(&self, wanted: fn(&CallState) -> bool) -> Vec<usize> {
        let slots = self.state.calls.iter().enumerate();
        slots
            .filter(|(_, slot)| wanted(&slot.state))
            .map(|(index, _)| index)
            .collect()
    }
}

/// Failures of a tool that the model cannot do anything about.
const fn ends_run(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::ToolInput
            | FailureKind::Cancelled
            | FailureKind::Guardrail
            | FailureKind::Terminated
            | FailureKind::Internal
    )
}
