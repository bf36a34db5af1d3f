//! Runs that repeat themselves: the same call with the same result.

use chrono::{DateTime, Utc};
use neuron_types::{
    CallState, ContentItem, FailureKind, GuardPoint, HaltReason, OnLoop, RunEvent, ToolResultBlock,
};

use crate::AgentMachine;

/// What stands where the name of a guard stands.
const NAME: &str = "repeats";

impl AgentMachine {
    /// Notes the result of a call, and adds for the model that it was the same before. A run that repeats itself twice
    /// as often does not continue by itself, if its agent is set so.
    pub(crate) fn note_repeat(&mut self, index: usize) {
        let Some(most) = self.state.agent.max_repeats.filter(|most| *most > 0) else {
            return;
        };
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        let CallState::Done(result) = &mut slot.state else {
            return;
        };
        let count = self.state.repeated.note(&slot.call, result);
        if count < most {
            return;
        }
        let tool = slot.call.name.clone();
        let reason = format!("the call of {tool} has had the same result {count} times");
        add_hint(result, &reason);
        let call_id = Some(slot.call.id.clone());
        let is_over = count >= most.saturating_mul(2);
        let verdict = match self.state.agent.on_loop {
            OnLoop::Ask if is_over => "ask",
            OnLoop::End if is_over => "trip",
            _ => "warn",
        };
        if verdict != "warn" {
            self.state.looped.get_or_insert_with(|| reason.clone());
        }
        self.emit(RunEvent::Guarded {
            turn: self.state.turn,
            point: GuardPoint::Result,
            guard: NAME.to_owned(),
            verdict: verdict.to_owned(),
            reason,
            call_id,
        });
    }

    /// Returns whether the run goes no further because it repeats itself. If so, a person is asked, or it has ended.
    pub(crate) fn ends_for_repeats(&mut self, now: DateTime<Utc>) -> bool {
        let Some(reason) = self.state.looped.take() else {
            return false;
        };
        match self.state.agent.on_loop {
            OnLoop::Ask => {
                self.review();
                self.halt(HaltReason::Loop(reason), now);
            }
            OnLoop::End => self.fail(FailureKind::Guardrail, reason, now),
            // Its agent has another definition since.
            _ => return false,
        }
        true
    }

    /// A person makes a run continue that repeats itself.
    pub(crate) fn forget_repeats(&mut self) {
        self.state.repeated = Default::default();
    }
}

fn add_hint(result: &mut ToolResultBlock, reason: &str) {
    let hint = format!("[{reason}: do something else, or answer with what you know]");
    result.content.push(ContentItem::Text(hint));
}
