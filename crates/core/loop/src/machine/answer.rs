//! What a model's answer changes.

use chrono::{DateTime, Utc};
use neuron_types::{
    CallState, CompletionResponse, ContentBlock, ExitReason, FailureKind, GuardEnd, GuardPoint,
    Message, PendingCall, Role, RunError, RunEvent, Stage, StepFailure, StopReason, ToolCall,
    is_call_id, made_call_id,
};

use crate::{
    AgentMachine,
    machine::{
        budget::{Room, Source},
        call::is_unguarded,
    },
};

/// How many answers in a row may ask to be continued before the run fails.
const MOST_CONTINUATIONS: u32 = 20;

/// How many answers in a row may be of another form than was asked for, or have no text, each followed by another try.
const MOST_MISMATCHES: u32 = 1;

/// How many calls in a row may come to nothing in a run with a budget, since their attempts were lost or failed at a price.
const MOST_AGAIN: u32 = 5;

/// The part of the size at which a conversation is compacted, from which on a server may reject it.
const NEAR: u64 = 2;

/// How many things that are left out a run reports.
const MOST_LEFT_OUT: usize = 100;

impl AgentMachine {
    pub(crate) fn model_answered(&mut self, response: CompletionResponse, now: DateTime<Utc>) {
        self.charge_lost(response.spent_before.as_deref());
        self.state.budget.again = 0;
        let lowered = self.settle_call(&response.usage, response.cost_usd);
        self.leave_answer();
        self.spend(&response.usage, response.cost_usd);
        self.spend_on_failures(response.spent_before.as_deref());
        if let Some(response) = self.judge_answer(response, lowered) {
            self.answer_passed(response, lowered, now);
        }
    }

    /// Emits the model's answer. This text of it is shown.
    pub(crate) fn tell_answered(&mut self, response: &CompletionResponse, text: Option<String>) {
        if let Some(guarded) = &response.guarded {
            self.tell_guarded(GuardPoint::Output, guarded, None);
        }
        let event = RunEvent::ModelResponded {
            turn: self.state.turn,
            stop_reason: response.stop_reason.clone(),
            text,
            usage: response.usage.clone(),
            cost_usd: response.cost_usd,
            model: response.message.answered_by().map(ToOwned::to_owned),
            spent_before: response.spent_before.clone(),
        };
        self.emit(event);
    }

    /// All guards have looked at an answer: what they left of it is taken.
    pub(crate) fn answer_passed(
        &mut self,
        response: CompletionResponse,
        lowered: Option<u64>,
        now: DateTime<Utc>,
    ) {
        // An answer that a person has to release is not shown before.
        let is_asked = matches!(end_of(&response), GuardEnd::Ask(_));
        let text = Some(response.message.text()).filter(|text| !text.is_empty() && !is_asked);
        self.tell_answered(&response, text.clone());
        self.tell_left_out(&response.left_out);
        match response.stop_reason {
            StopReason::ContextWindowExceeded => {
                self.overflow("the model's context window is full".to_owned(), now);
            }
            StopReason::Refusal | StopReason::ContentFilter => self.refused(text),
            // An executor makes a failure of it. A door that hands it on all the same has no whole answer.
            StopReason::Other(reason) => self.ended_oddly(&reason, now),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::StopSequence
            | StopReason::Compaction
            | StopReason::PauseTurn => self.take_answer(response, text, lowered, now),
            _ => self.ended_oddly("a reason of a newer build", now),
        }
    }

    pub(crate) fn model_failed(&mut self, failure: StepFailure, now: DateTime<Utc>) {
        self.charge_lost(failure.spent.as_deref());
        self.release_call();
        self.leave_answer();
        let turn = self.state.turn;
        self.spend_on_failures(failure.spent.as_deref());
        self.emit(RunEvent::ModelFailed {
            turn,
            failure: failure.clone(),
        });
        if failure.kind == FailureKind::OutOfBudget {
            self.call_again(failure, now);
        } else if failure.kind == FailureKind::ContextLength {
            self.overflow(failure.message, now);
        } else if self.may_be_too_long(&failure) {
            let message = failure.message.clone();
            self.state.doubt = Some(RunError {
                kind: failure.kind,
                message: failure.message,
            });
            self.overflow(message, now);
        } else {
            if self.asks_about(failure.kind) {
                self.emit(RunEvent::TurnEnded { turn });
            }
            self.give_up(failure.kind, failure.message, now);
        }
    }

    /// Nothing was put aside for another attempt at a call: it is made again in a turn of its own, a few times.
    fn call_again(&mut self, failure: StepFailure, now: DateTime<Utc>) {
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        if !self.tries_again() {
            return self.give_up(FailureKind::Unavailable, failure.message, now);
        }
        self.state.turns_again = self.state.turns_again.saturating_add(1);
        self.begin_turn(now);
    }

    /// Counts a call that came to nothing for want of something put aside. Returns whether it is made again.
    pub(crate) fn tries_again(&mut self) -> bool {
        let again = self.state.budget.again.saturating_add(1);
        let is_made = again <= MOST_AGAIN;
        self.state.budget.again = if is_made { again } else { 0 };
        is_made
    }

    /// Reports what was left out of the request and not reported yet.
    fn tell_left_out(&mut self, left_out: &[String]) {
        let turn = self.state.turn;
        let room = MOST_LEFT_OUT.saturating_sub(self.state.left_out.len());
        let told = &self.state.left_out;
        let new = left_out.iter().filter(|what| !told.contains(what));
        let what: Vec<String> = new.take(room).cloned().collect();
        if !what.is_empty() {
            self.state.left_out.extend(what.iter().cloned());
            self.emit(RunEvent::LeftOut { turn, what });
        }
    }

    /// The answer ended for no reason that is known, so that it may lack anything.
    fn ended_oddly(&mut self, reason: &str, now: DateTime<Utc>) {
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        let message =
            format!("the model's answer ended for a reason that is not known: {reason:?}");
        self.give_up(FailureKind::MalformedAnswer, message, now);
    }

    /// Returns whether a request that was rejected may have been too long, in words that are not known: the
    /// conversation is not far from where it is compacted anyway, and can be made smaller.
    fn may_be_too_long(&self, failure: &StepFailure) -> bool {
        let policy = &self.state.agent.context;
        failure.kind == FailureKind::InvalidRequest
            && matches!(failure.status, Some(400 | 413 | 422))
            && !self.state.context.overflowed
            && !policy.rules.is_empty()
            && self.state.context.tokens >= policy.threshold() / NEAR
    }

    /// The conversation is too long: shrinks it once, then gives up.
    fn overflow(&mut self, message: String, now: DateTime<Utc>) {
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        if self.state.context.overflowed {
            self.give_up(FailureKind::ContextLength, message, now);
        } else {
            self.state.context.overflowed = true;
            self.begin_turn(now);
        }
    }

    fn refused(&mut self, text: Option<String>) {
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        let message = text.unwrap_or_else(|| "the model declined to answer".to_owned());
        let error = RunError {
            kind: FailureKind::ContentFilter,
            message,
        };
        self.end(ExitReason::Refused, Some(error));
    }

    fn take_answer(
        &mut self,
        response: CompletionResponse,
        text: Option<String>,
        lowered: Option<u64>,
        now: DateTime<Utc>,
    ) {
        let CompletionResponse {
            mut message,
            usage,
            stop_reason,
            mut mismatch,
            guarded,
            ..
        } = response;
        let end = guarded.map(|guarded| guarded.end).unwrap_or_default();
        self.state.context.overflowed = false;
        self.state.doubt = None;
        // What an answer that continues said before is a part of it.
        let is_silent = text.is_none() && self.state.context.continuations == 0;
        if text.is_some() && end.is_pass() {
            self.state.last_text = text;
        }
        self.take_ids(&mut message.content);
        let first = match self.state.agent.guards_calls() {
            true => CallState::Unguarded,
            false => CallState::Unjudged,
        };
        self.state.calls = pending_calls(&message.content, &first);
        if !message.content.is_empty() {
            self.push(message);
        }
        if usage.total() > 0 {
            self.count_reported(&usage);
        }
        let is_last = self.state.calls.is_empty()
            && !matches!(
                stop_reason,
                StopReason::MaxTokens | StopReason::PauseTurn | StopReason::Compaction
            );
        if let (GuardEnd::Ask(reason), false) = (&end, is_last) {
            self.withhold_answer(reason);
        }
        if !self.state.calls.is_empty() {
            self.state.context.continuations = 0;
            if stop_reason == StopReason::MaxTokens {
                self.refuse_cut_call();
            }
            self.begin_calls(now);
            return;
        }
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        match stop_reason {
            StopReason::MaxTokens => match lowered {
                Some(most) => self.cut_at_budget(most, now),
                None => self.end(ExitReason::MaxTokens, None),
            },
            StopReason::PauseTurn | StopReason::Compaction => self.continue_answer(now),
            _ => {
                self.state.context.continuations = 0;
                match end {
                    // No person is asked about an answer that is asked for again, and why it does not fit would quote it.
                    GuardEnd::Ask(reason) if mismatch.is_some() => {
                        mismatch = Some("it does not fit its schema".to_owned());
                        self.withhold_answer(&reason);
                    }
                    end => {
                        if !self.passes_guards(end, now) {
                            return;
                        }
                    }
                }
                match mismatch {
                    Some(reason) => self.reject_answer(reason, now),
                    None if is_silent && self.state.mismatches < MOST_MISMATCHES => {
                        self.ask_for_text(now);
                    }
                    None => {
                        if is_silent {
                            // What an earlier turn said is no answer.
                            self.state.last_text = None;
                        }
                        self.state.mismatches = 0;
                        self.state.stage = Stage::TakeInput { closing: true };
                    }
                }
            }
        }
    }

    /// The model asked for calls: guards and hooks look at them where there are any, and then the policy.
    fn begin_calls(&mut self, now: DateTime<Utc>) {
        self.load_called();
        if !self.state.agent.guards_calls() {
            self.state.stage = Stage::JudgeCalls;
            return;
        }
        self.state.stage = Stage::Tools;
        for index in self.positions(is_unguarded) {
            if let Some(refusal) = self.refusal(index) {
                self.refuse_call(index, &refusal);
            } else {
                self.hold_for_call(index);
            }
        }
        self.settle(now);
    }

    /// The answer was cut at this number of tokens, which is where the budget ended: it continues if there is more.
    fn cut_at_budget(&mut self, most: u64, now: DateTime<Utc>) {
        match self.room() {
            Room::Short(shortage) => match &shortage.source {
                Source::Limit if !self.asks_about_limits() => {
                    return self.end(shortage.limit, None);
                }
                Source::Pool(_) => return self.fall_short(&shortage, now),
                Source::Limit | Source::Above => {}
            },
            // What is left is less than it had, and more than one may do with.
            Room::For(held) if held.output <= most => {
                return self.end(ExitReason::MaxTokens, None);
            }
            Room::For(_) | Room::Unbounded => {}
        }
        self.push(Message::user(
            "The answer was cut where the budget ended. There is more now: go on.",
        ));
        self.begin_turn(now);
    }

    /// The answer is not of the form that was asked for: asks once more, then fails the run.
    fn reject_answer(&mut self, reason: String, now: DateTime<Utc>) {
        let turn = self.state.turn;
        self.state.mismatches += 1;
        if self.state.mismatches > MOST_MISMATCHES {
            let message =
                format!("the model's answer is not of the form that was asked for: {reason}");
            return self.give_up(FailureKind::InvalidAnswer, message, now);
        }
        let what = format!("The answer is not of the form that was asked for: {reason}");
        self.push(Message::user(answer_again(&what)));
        self.emit(RunEvent::AnswerRejected { turn, reason });
        self.begin_turn(now);
    }

    /// The answer has no text: asks once more. After that the run completes without an output.
    fn ask_for_text(&mut self, now: DateTime<Utc>) {
        let turn = self.state.turn;
        self.state.mismatches += 1;
        self.push(Message::user(
            "The answer has no text. Answer now, in words.",
        ));
        let reason = "it has no text".to_owned();
        self.emit(RunEvent::AnswerRejected { turn, reason });
        self.begin_turn(now);
    }

    /// Calls the model again with nothing said in between.
    fn continue_answer(&mut self, now: DateTime<Utc>) {
        self.state.context.continuations += 1;
        if self.state.context.continuations > MOST_CONTINUATIONS {
            let message = format!(
                "the model asked {MOST_CONTINUATIONS} times in a row to be continued without an answer"
            );
            self.give_up(FailureKind::Unavailable, message, now);
        } else {
            self.begin_turn(now);
        }
    }

    /// The output limit cut the last call: it may be incomplete, so it is not made.
    fn refuse_cut_call(&mut self) {
        let last = self.state.calls.len().saturating_sub(1);
        self.refuse_call(
            last,
            "not called: the answer was cut at the output limit and the arguments may be \
             incomplete; call again with shorter arguments",
        );
    }
}

impl AgentMachine {
    /// Gives each call an id that no other call of the conversation has and that every provider takes: the provider's own,
    /// where it is one. Otherwise the provider's is kept beside it.
    fn take_ids(&self, content: &mut [ContentBlock]) {
        let turn = self.state.turn.to_string();
        let mut given: Vec<String> = Vec::new();
        for (position, block) in content.iter_mut().enumerate() {
            let ContentBlock::ToolUse { id, own_id, .. } = block else {
                continue;
            };
            let is_taken = |id: &String| given.contains(id) || self.has_call(id);
            if !is_call_id(id) || is_taken(id) {
                let position = position.to_string();
                let mut made = made_call_id(&[id, &turn, &position]);
                while is_taken(&made) {
                    made = made_call_id(&[&made, &turn, &position]);
                }
                let theirs = std::mem::replace(id, made);
                *own_id = Some(theirs).filter(|theirs| !theirs.is_empty());
            }
            given.push(id.clone());
        }
    }

    /// Returns whether a call of the conversation has this id.
    fn has_call(&self, id: &str) -> bool {
        // A long conversation is looked through for each call, and others than the model have none.
        let answers = self.messages().iter();
        let answers = answers.filter(|message| message.role == Role::Assistant);
        let mut blocks = answers.flat_map(|message| &message.content);
        blocks.any(|block| matches!(block, ContentBlock::ToolUse { id: known, .. } if known == id))
    }
}

/// Returns what the model reads after an answer that is not of the form that was asked for.
pub(crate) fn answer_again(what: &str) -> String {
    format!("{what}. Answer again, with nothing but JSON that fits.")
}

/// Returns what guards make of an answer.
fn end_of(response: &CompletionResponse) -> GuardEnd {
    let guarded = response.guarded.as_ref();
    guarded.map_or(GuardEnd::Pass, |guarded| guarded.end.clone())
}

fn pending_calls(content: &[ContentBlock], state: &CallState) -> Vec<PendingCall> {
    let asked = content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse {
            id, name, input, ..
        } => Some(ToolCall::new(id.clone(), name.clone(), input.clone())),
        _ => None,
    });
    asked
        .zip(1..)
        .map(|(call, position)| PendingCall {
            call,
            position,
            edited: false,
            replaced: false,
            doubt: None,
            tickets: 0,
            rounds: 0,
            state: state.clone(),
            in_flight: None,
            held: None,
        })
        .collect()
}
