//! The tool calls of one turn: allowed, asked about, made, answered.

use chrono::{DateTime, Utc};
use neuron_types::{
    ASK_PERSON, CallState, ExitReason, FIND_TOOLS, FailureKind, OnUnknownOutcome,
    PermissionDecision, RunError, RunEvent, Stage, StepFailure, TicketKind, ToolCall, ToolEffects,
    ToolOutput, ToolResultBlock, withheld,
};

use crate::{
    AgentMachine,
    machine::call::{
        CallEvent, has_own_call, is_delegated, is_moving, is_open, is_returned, is_running,
        is_unguarded, is_unjudged, is_unknown, is_waiting,
    },
};

/// What the model reads of a call that was given up while it was in flight.
const LEFT: &str = "not finished: the run ended while the call was in flight";

/// Why a result is withheld that no judge has looked at when the run ends.
pub(crate) const UNSCREENED: &str = "the run ended before its result was checked";

/// What the model reads of a write that was in flight when the process that ran it was lost.
const LOST: &str =
    "the call was in flight when its run was interrupted, so it may or may not have taken effect";

impl AgentMachine {
    pub(crate) fn authorized(&mut self, decisions: Vec<PermissionDecision>, now: DateTime<Utc>) {
        let unjudged = self.positions(is_unjudged);
        let mut is_held = false;
        for (index, decision) in unjudged.into_iter().zip(decisions) {
            if let Some(refusal) = self.refusal(index) {
                self.refuse_call(index, &refusal);
                continue;
            }
            match self.doubted(index, decision) {
                PermissionDecision::Deny(reason) => {
                    self.refuse_call(index, &format!("denied: {reason}"));
                }
                // It is judged again when the limit was raised.
                _ if self.is_out_of_calls() && self.asks_about_limits() => is_held = true,
                _ if self.is_out_of_calls() => {
                    self.state.limit = Some(ExitReason::MaxToolCalls);
                    self.refuse_call(
                        index,
                        "not called: the run's limit of tool calls is reached",
                    );
                }
                _ if self.is_question(index) => self.ask_person(index, now),
                PermissionDecision::Allow => {
                    self.call(index, CallEvent::Allowed);
                }
                PermissionDecision::Ask(asking) => self.ask(index, asking, now),
            }
        }
        if is_held {
            self.state.stage = Stage::JudgeCalls;
            return self.reach_limit(ExitReason::MaxToolCalls, now);
        }
        self.state.stage = Stage::Tools;
        self.settle(now);
    }

    /// Returns what is done about a call that guards ask a person about, too: the person who reads the ticket learns
    /// the reason of the guards.
    fn doubted(&self, index: usize, decision: PermissionDecision) -> PermissionDecision {
        let slot = self.state.calls.get(index);
        match slot.and_then(|slot| slot.doubt.clone()) {
            Some(mut doubt) => {
                if let PermissionDecision::Ask(asking) = &decision {
                    doubt.reason = format!("{}; {}", doubt.reason, asking.reason);
                }
                PermissionDecision::Ask(doubt).and(decision)
            }
            None => decision,
        }
    }

    /// Returns the answer to a call that is not made, whatever its policy says.
    pub(crate) fn refusal(&self, index: usize) -> Option<String> {
        self.too_many(index)
            .or_else(|| self.unlisted(index))
            .or_else(|| self.no_child(index))
    }

    /// Returns the answer to a call beyond the number that one answer may ask for.
    fn too_many(&self, index: usize) -> Option<String> {
        let position = self.state.calls.get(index)?.position;
        let most = self.state.agent.calls_per_turn?;
        (position > most).then(|| {
            format!(
                "not called: one turn makes at most {most} calls, and this is call {position}: call again in the next turn"
            )
        })
    }

    /// Returns the answer to a call whose tool the run's definition does not list: what a run may call must not depend
    /// on which tools an executor has.
    fn unlisted(&self, index: usize) -> Option<String> {
        let name = &self.state.calls.get(index)?.call.name;
        let agent = &self.state.agent;
        if agent.head.tools.iter().any(|tool| tool.name == *name) {
            return None;
        }
        let sent = self.state.head();
        if sent.tools.iter().any(|tool| tool.name == *name) {
            return None;
        }
        // A provider that searches tools itself is not sent ours that finds them.
        let known = sent.listed_tools().map(|tool| tool.name.as_str());
        let text = ToolOutput::unknown_tool_text(name, known);
        Some(match agent.searches_tools() {
            true if sent.searched_tools.is_empty() => format!("{text}; {FIND_TOOLS} finds others"),
            true => format!("{text}; search the tools for others"),
            false => text,
        })
    }

    /// Returns whether a call asks a person, and no executor.
    fn is_question(&self, index: usize) -> bool {
        let slot = self.state.calls.get(index);
        slot.is_some_and(|slot| slot.call.name == ASK_PERSON)
    }

    /// Counts the calls made so far and those that may still be made in this turn.
    fn is_out_of_calls(&self) -> bool {
        // One that has started a run is counted already.
        let is_pending = |state: &CallState| {
            let is_undecided = is_unjudged(state) || is_unguarded(state);
            is_running(state) || is_waiting(state) && !is_undecided
        };
        let taken = u32::try_from(self.calls_in(is_pending).count())
            .unwrap_or(u32::MAX)
            .saturating_add(self.state.tool_calls);
        self.state
            .agent
            .limits
            .tool_calls
            .is_some_and(|most| taken >= most)
    }

    pub(crate) fn tool_answered(
        &mut self,
        index: usize,
        result: Result<ToolOutput, StepFailure>,
        now: DateTime<Utc>,
    ) {
        let result = match result {
            Ok(output) => match self.screen(index, output, false) {
                Some(output) => Ok(self.held_back(index, output, false)),
                None => {
                    self.state.tool_calls = self.state.tool_calls.saturating_add(1);
                    return self.go_on(now);
                }
            },
            Err(failure) => Err(failure),
        };
        let result = match result {
            Err(failure)
                if failure.kind == FailureKind::NotApproved && self.state.ending.is_none() =>
            {
                self.not_approved(index, failure, now);
                None
            }
            Ok(ToolOutput {
                pending: Some(pending),
                ..
            }) if self.state.ending.is_none() => {
                self.await_result(index, pending, now);
                None
            }
            Ok(ToolOutput {
                pending: Some(_), ..
            }) => Some(Ok(ToolOutput::error(LEFT))),
            other => Some(other),
        };
        if result.is_some() {
            self.state.tool_calls = self.state.tool_calls.saturating_add(1);
        }
        match result {
            None => {}
            Some(Ok(output)) => {
                self.finish_call(index, CallEvent::Answered, output, None, None);
            }
            Some(Err(failure)) => {
                if ends_run(failure.kind) && self.state.ending.is_none() {
                    self.state.ending = Some(RunError {
                        kind: failure.kind,
                        message: failure.message.clone(),
                    });
                }
                self.call_failed(index, &failure, now);
            }
        }
        self.go_on(now);
    }

    /// Continues after a call of the turn has ended.
    pub(crate) fn go_on(&mut self, now: DateTime<Utc>) {
        if self.state.ending.is_some() {
            self.end_if_left(now);
            return;
        }
        if self.state.overdue.is_some() {
            return;
        }
        if let Some(limit) = self.time_limit(now)
            && self.calls_in(is_waiting).next().is_some()
        {
            if self.asks_about_limits() {
                self.state.overdue = Some(limit);
                return;
            }
            self.state.limit = Some(limit);
            self.give_up_calls(is_waiting, "the run's time is up");
            self.stop_waiting(now);
        }
        self.settle(now);
    }

    /// The calls in flight were given up: whatever still counts as running was dropped.
    pub(crate) fn calls_left(&mut self, now: DateTime<Utc>) {
        if self.state.ending.is_none()
            && let Some(limit) = self.state.overdue.take()
        {
            return self.left_overdue(limit, now);
        }
        self.refuse_calls(is_running, LEFT);
        self.end_if_left(now);
    }

    pub(crate) fn end_if_left(&mut self, now: DateTime<Utc>) {
        if self.calls_in(is_running).next().is_some() {
            return;
        }
        if let Some(RunError { kind, message }) = self.state.ending.take() {
            self.stop_waiting(now);
            self.fail(kind, message, now);
        }
    }

    /// Takes up a state whose calls in flight have unknown ends: those that may be made again are, and the outcome of a
    /// write is unknown.
    pub(crate) fn take_up(&mut self, now: DateTime<Utc>) {
        let is_held = self.state.budget.held.is_some();
        let is_made = self.state.in_flight.is_some();
        self.leave_answer();
        if let (Stage::GuardAnswer(_), true) = (&self.state.stage, is_held && is_made) {
            // Judges are asked once more, for which something is put aside anew.
            self.hold_for_answer();
        } else if is_held && is_made {
            // The call is made once more, in a turn of its own: there has to be room for it.
            if self.state.stage != Stage::GuardInput {
                self.state.turns_again = self.state.turns_again.saturating_add(1);
            }
            self.begin_turn(now);
        }
        self.verify_again();
        self.calls(has_own_call, &CallEvent::Left);
        for index in self.positions(is_running) {
            let Some(slot) = self.state.calls.get(index) else {
                continue;
            };
            let step = self.step(self.state.turn, slot.position);
            let options = self.state.agent.tool_options(&slot.call, step);
            if options.effects == ToolEffects::Write {
                let lost = StepFailure::new(FailureKind::OutcomeUnknown, LOST);
                self.tool_answered(index, Err(lost), now);
            } else {
                self.call(index, CallEvent::Left);
            }
        }
    }

    fn call_failed(&mut self, index: usize, failure: &StepFailure, now: DateTime<Utc>) {
        let is_unknown = failure.kind == FailureKind::OutcomeUnknown;
        if is_unknown && self.state.ending.is_none() {
            if !self.inquire(index, &failure.message) {
                self.outcome_unknown(index, &failure.message, now);
            }
        } else {
            self.fail_call(index, &failure.message, failure.kind);
        }
    }

    /// Neither the engine nor the call's tool knows the outcome of the call: a person is asked, or the model reads that
    /// it is unknown.
    pub(crate) fn outcome_unknown(&mut self, index: usize, message: &str, now: DateTime<Utc>) {
        if self.state.agent.on_unknown_outcome == OnUnknownOutcome::AskPerson {
            self.ask_about_outcome(index, message, now);
        } else {
            self.fail_call(index, message, FailureKind::OutcomeUnknown);
        }
    }

    /// Ends the turn if every call is answered, and reports it if only people are waited for.
    pub(crate) fn settle(&mut self, now: DateTime<Utc>) {
        self.answer_handoffs();
        // It is settled when nothing is in flight any more.
        if self.state.overdue.is_some() {
            return;
        }
        // What a person is asked about the run as a whole is decided first.
        if self.state.halt.is_none() && self.judges_next() {
            self.state.stage = Stage::JudgeCalls;
            return;
        }
        if self.calls_in(is_open).next().is_none() {
            let closing = self.takes_first_result();
            self.push_results();
            let turn = self.state.turn;
            self.emit(RunEvent::TurnEnded { turn });
            self.state.stage = Stage::TakeInput { closing };
        } else if self.calls_in(is_moving).next().is_none() {
            self.wait_for_people(now);
        }
        if self.state.halt.is_some() {
            self.wait_for_people(now);
        }
    }

    /// Returns whether guards and hooks have let calls pass, and look at no other.
    fn judges_next(&self) -> bool {
        self.calls_in(is_unjudged).next().is_some() && self.calls_in(is_unguarded).next().is_none()
    }

    pub(crate) fn stop_waiting(&mut self, now: DateTime<Utc>) {
        if let Some(since) = self.state.waiting_since.take() {
            let waited = u64::try_from((now - since).num_milliseconds()).unwrap_or(0);
            self.state.waited_ms = self.state.waited_ms.saturating_add(waited);
        }
    }

    /// Answers a call without making it.
    pub(crate) fn refuse_call(&mut self, index: usize, reason: &str) {
        let output = ToolOutput::error(reason);
        let reason = Some(reason.to_owned());
        self.finish_call(index, CallEvent::Refused, output, None, reason);
    }

    pub(crate) fn refuse_calls(&mut self, which: fn(&CallState) -> bool, reason: &str) {
        for index in self.positions(which) {
            self.refuse_call(index, reason);
        }
    }

    pub(crate) fn refuse_open_calls(&mut self, why: &str) {
        self.refuse_calls(is_running, LEFT);
        for index in self.positions(is_unknown) {
            self.leave_inquiry(index);
        }
        for index in self.positions(is_returned) {
            self.withhold_unread(index, UNSCREENED);
        }
        self.refuse_calls(is_delegated, LEFT);
        self.give_up_calls(is_open, why);
    }

    /// Answers the calls in these states, which nothing is done about any more, for this reason. A call that was made, and
    /// whose ticket is about its result, is not answered as one that was not made.
    fn give_up_calls(&mut self, which: fn(&CallState) -> bool, why: &str) {
        for index in self.positions(which) {
            let position = self.state.calls.get(index).map(|slot| slot.position);
            let mut open = self.state.tickets.iter();
            let open = open.find(|open| open.position.is_some() && open.position == position);
            let open = open.cloned();
            let text = match open.as_ref().map(|open| open.ticket.kind) {
                Some(TicketKind::External) => format!("no result: {why}"),
                Some(TicketKind::Form | TicketKind::Question) => format!("not answered: {why}"),
                Some(TicketKind::Guard) => withheld(why),
                _ => format!("not called: {why}"),
            };
            match open.filter(|open| open.ticket.kind == TicketKind::UnknownOutcome) {
                Some(open) => self.leave_unknown(index, &open),
                None => self.refuse_call(index, &text),
            }
        }
    }

    /// Answers a call that failed.
    pub(crate) fn fail_call(&mut self, index: usize, message: &str, kind: FailureKind) {
        let output = ToolOutput::error(message);
        self.finish_call(index, CallEvent::Answered, output, Some(kind), None);
    }

    /// `reason` is all that the model reads of a call that no step answered. Questions about the call are withdrawn.
    pub(crate) fn finish_call(
        &mut self,
        index: usize,
        event: fn(ToolResultBlock) -> CallEvent,
        mut output: ToolOutput,
        failure: Option<FailureKind>,
        reason: Option<String>,
    ) {
        let turn = self.state.turn;
        self.load_found(index, &mut output);
        let Some(slot) = self.state.calls.get(index) else {
            return;
        };
        let position = slot.position;
        let mut content = output.content;
        if slot.edited {
            content.insert(0, ToolCall::note_of_change(&slot.call.input));
        } else if slot.replaced {
            let note = ToolCall::note_of_change_by(ToolCall::NO_PERSON, &slot.call.input);
            content.insert(0, note);
        }
        // What was not made repeats nothing, and what the run says of itself is no result.
        let is_made = reason.is_none();
        let result = event(ToolResultBlock {
            tool_use_id: slot.call.id.clone(),
            name: slot.call.name.clone(),
            content,
            is_error: output.is_error,
        });
        let finished = RunEvent::ToolFinished {
            turn,
            call_id: slot.call.id.clone(),
            tool: slot.call.name.clone(),
            is_error: output.is_error,
            failure,
            reason,
        };
        if self.call(index, result) {
            if is_made {
                self.note_repeat(index);
            }
            let tickets = &mut self.state.tickets;
            tickets.retain(|open| open.position != Some(position));
            self.emit(finished);
        }
    }

    /// Returns the positions in the batch of the calls in this state.
    pub(crate) fn positions(&self, wanted: fn(&CallState) -> bool) -> Vec<usize> {
        let slots = self.state.calls.iter().enumerate();
        slots
            .filter(|(_, slot)| wanted(&slot.state))
            .map(|(index, _)| index)
            .collect()
    }
}

/// Failures of a tool that the model cannot do anything about.
pub(crate) const fn ends_run(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::ToolInput
            | FailureKind::Cancelled
            | FailureKind::Guardrail
            | FailureKind::Terminated
            | FailureKind::Internal
    )
}
