//! Guards: what comes of messages, calls, results and answers that they look at.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    Asking, Choice, ContentItem, Doubted, Effect, FailureKind, GuardEnd, GuardPoint, GuardRequest,
    Guarded, HaltReason, Message, Pending, PendingCall, RunError, RunEvent, Spent, Stage, Step,
    StepFailure, TicketKind, ToolOutput, withheld,
};
use serde_json::Value;

use crate::{
    AgentMachine,
    machine::{batch::ends_run, call::CallEvent, tickets::Opening},
};

/// How long one attempt to ask guards may take. Each of them has a time of its own, which is shorter.
pub(crate) const GUARDING: Duration = Duration::from_secs(300);

/// How many answers in a row may be blocked, each followed by another try.
const MOST_BLOCKED: u32 = 1;

/// How much of a text is shown to the person who is asked whether it may pass, in characters.
const MOST_SHOWN: usize = 4_000;

impl AgentMachine {
    /// Adds a message from outside of the run: guards look at it before the model reads it.
    pub(crate) fn push_said(&mut self, message: Message) {
        if self.guards_input() {
            self.state.unguarded = self.state.unguarded.saturating_add(1);
        }
        self.push(message);
    }

    pub(crate) fn guards_input(&self) -> bool {
        self.state
            .agent
            .guards_at(GuardPoint::Input)
            .next()
            .is_some()
    }

    /// Returns whether guards are to look at messages before the model is called.
    pub(crate) fn has_unguarded(&self) -> bool {
        self.state.unguarded > 0 && self.guards_input()
    }

    /// Returns where in the conversation the messages are that no guard has looked at. It may have been cut since they
    /// came.
    fn unguarded(&self) -> std::ops::Range<usize> {
        let messages = self.messages().len();
        let count = usize::try_from(self.state.unguarded).unwrap_or(usize::MAX);
        messages.saturating_sub(count)..messages
    }

    /// The texts of these messages.
    pub(crate) fn unguarded_texts(&self) -> Vec<String> {
        let messages = self.messages().get(self.unguarded()).unwrap_or_default();
        messages.iter().map(Message::text).collect()
    }

    /// The step in which guards look at messages.
    pub(crate) fn input_guarding(&self) -> Step {
        let mut options = self.own_call(self.next_own_call(), GUARDING);
        options.guards = self.state.agent.names_of_guards(&[GuardPoint::Input]);
        options.held = self.state.budget.held;
        let request = GuardRequest::Input {
            texts: self.unguarded_texts(),
            judges: self.judges_of_messages(),
        };
        Step::new(Effect::Guard(request), options)
    }

    /// The step at this position in which guards and hooks look at a call.
    pub(crate) fn guarding_of(&self, slot: &PendingCall, position: u32) -> Step {
        let mut options = self.finding_out(&slot.call, position, GUARDING);
        options.guards = self.state.agent.names_of_guards(&[GuardPoint::Call]);
        options.held = slot.held;
        let request = GuardRequest::Call {
            call: Box::new(slot.call.clone()),
            hooks: self.state.agent.hooks_calls,
            judges: self.judges_of_call(slot),
        };
        Step::new(Effect::Guard(request), options)
    }

    /// Says what guards said.
    pub(crate) fn tell_guarded(
        &mut self,
        point: GuardPoint,
        guarded: &Guarded,
        call_id: Option<&str>,
    ) {
        let turn = self.state.turn;
        for note in &guarded.notes {
            self.emit(RunEvent::Guarded {
                turn,
                point,
                guard: note.guard.clone(),
                verdict: note.verdict.clone(),
                reason: note.reason.clone(),
                call_id: call_id.map(str::to_owned),
            });
        }
    }

    /// Guards have looked at the newest messages.
    pub(crate) fn input_guarded(
        &mut self,
        spent: Option<&Spent>,
        result: Result<Vec<Guarded>, StepFailure>,
        now: DateTime<Utc>,
    ) {
        let held = self.state.budget.held.take();
        self.judged(GuardPoint::Input, None, held, spent);
        self.leave_answer();
        self.state.stage = Stage::ReviewContext;
        let guarded = match result {
            Ok(guarded) => guarded,
            // Nothing was put aside for another attempt, and may be now.
            Err(failure) if failure.kind == FailureKind::OutOfBudget && self.tries_again() => {
                return self.begin_turn(now);
            }
            Err(failure) => return self.give_up(failure.kind, failure.message, now),
        };
        let places = self.unguarded();
        if places.len() != guarded.len() {
            let message = "guards did not look at all messages".to_owned();
            return self.fail(FailureKind::Internal, message, now);
        }
        self.state.budget.again = 0;
        self.state.unguarded = 0;
        let mut doubted = Vec::new();
        for (message, guarded) in places.zip(guarded) {
            self.tell_guarded(GuardPoint::Input, &guarded, None);
            if let Some(with) = guarded.replaced {
                self.replace_text(message, with);
            }
            match guarded.end {
                GuardEnd::Pass => {}
                GuardEnd::Ask(reason) => doubted.push(Doubted { message, reason }),
                GuardEnd::Block(reason) => self.replace_text(message, withheld(&reason)),
                GuardEnd::Trip(reason) => return self.fail(FailureKind::Guardrail, reason, now),
            }
        }
        match doubted.is_empty() {
            true => self.begin_turn(now),
            false => self.halt(HaltReason::Input(doubted), now),
        }
    }

    fn replace_text(&mut self, message: usize, text: String) {
        let mut messages = self.messages().to_vec();
        if let Some(message) = messages.get_mut(message) {
            message.replace_text(text);
            self.state.conversation = messages.into();
        }
    }

    /// Guards and hooks have looked at a call.
    pub(crate) fn call_guarded(
        &mut self,
        index: usize,
        spent: Option<&Spent>,
        result: Result<Guarded, StepFailure>,
        now: DateTime<Utc>,
    ) {
        if let Some(slot) = self.state.calls.get_mut(index) {
            let (held, id) = (slot.held.take(), slot.call.id.clone());
            self.judged(GuardPoint::Call, Some(id), held, spent);
        }
        if self.state.ending.is_some() {
            self.call(index, CallEvent::Left);
            return;
        }
        match result {
            Ok(guarded) => self.take_guarded(index, guarded),
            Err(failure) if ends_run(failure.kind) => {
                self.trip(index, failure.kind, failure.message);
            }
            Err(failure) => {
                self.refuse_call(
                    index,
                    &format!("not called: it could not be checked: {failure}"),
                );
            }
        }
        self.go_on(now);
    }

    fn take_guarded(&mut self, index: usize, guarded: Guarded) {
        let hooks = self.state.agent.hooks_calls;
        let Some(slot) = self.state.calls.get_mut(index) else {
            return;
        };
        slot.call.hooked = hooks;
        // An executor gives nothing but JSON.
        let input = guarded
            .replaced
            .as_deref()
            .map(serde_json::from_str::<Value>);
        if let Some(Ok(input)) = input {
            slot.replaced = true;
            slot.call.input = input;
            // What was decided was decided about other arguments.
            slot.call.approval = None;
            slot.call.preview = None;
        }
        let is_approved = slot.call.approval.is_some();
        let id = slot.call.id.clone();
        self.tell_guarded(GuardPoint::Call, &guarded, Some(&id));
        match guarded.end {
            // The person who put in the arguments has decided about them.
            GuardEnd::Pass | GuardEnd::Ask(_) if is_approved => {
                self.call(index, CallEvent::Allowed);
            }
            GuardEnd::Pass => {
                self.call(index, CallEvent::Guarded);
            }
            GuardEnd::Ask(reason) => {
                if let Some(slot) = self.state.calls.get_mut(index) {
                    slot.doubt = Some(Asking::new(reason));
                }
                self.call(index, CallEvent::Guarded);
            }
            GuardEnd::Block(reason) => self.refuse_call(index, &format!("not called: {reason}")),
            GuardEnd::Trip(reason) => self.trip(index, FailureKind::Guardrail, reason),
        }
    }

    /// A guard or a hook ends the run at a call.
    fn trip(&mut self, index: usize, kind: FailureKind, message: String) {
        self.refuse_call(index, &format!("not called: {message}"));
        self.state.ending.get_or_insert(RunError { kind, message });
    }

    /// Says what guards said of a result. One that they have a person asked about comes back as what the call waits for;
    /// `is_of_no_step` if the step of the call does not hold it.
    pub(crate) fn held_back(
        &mut self,
        index: usize,
        mut output: ToolOutput,
        is_of_no_step: bool,
    ) -> ToolOutput {
        let Some(guarded) = output.guarded.take() else {
            return output;
        };
        let slot = self.state.calls.get(index);
        let id = slot.map(|slot| slot.call.id.clone());
        self.tell_guarded(GuardPoint::Result, &guarded, id.as_deref());
        match guarded.end {
            GuardEnd::Ask(reason) => ToolOutput::pending(Pending::Withheld {
                content: output.content,
                is_error: output.is_error,
                is_of_no_step,
                reason,
            }),
            _ => output,
        }
    }

    /// Guards found something in a result: a person is asked whether the model reads it.
    pub(crate) fn withhold_result(&mut self, index: usize, pending: Pending, now: DateTime<Utc>) {
        let Pending::Withheld {
            content, reason, ..
        } = &pending
        else {
            return;
        };
        let kind = TicketKind::Guard;
        let (text, reason) = (shown(reason, &text_of(content)), reason.clone());
        let opening = Opening {
            text: Some(text),
            choices: Choice::listed(kind),
            pending: Some(pending),
            ..Opening::new(kind, Asking::new(reason))
        };
        self.open_ticket(index, opening, now);
    }

    /// A person has decided about a result.
    pub(crate) fn decide_on_result(
        &mut self,
        index: usize,
        pending: Option<&Pending>,
        choice: Option<&Choice>,
    ) {
        let Some(Pending::Withheld {
            content,
            is_error,
            is_of_no_step,
            reason,
        }) = pending
        else {
            return self.refuse_call(index, &withheld("there is no result"));
        };
        match choice {
            Some(Choice::Release) => {
                let output = ToolOutput {
                    content: content.clone(),
                    is_error: *is_error,
                    ..ToolOutput::default()
                };
                let read = is_of_no_step.then(|| text_of(content));
                self.finish_call(index, CallEvent::Answered, output, None, read);
            }
            Some(Choice::End) => {
                self.refuse_call(index, &withheld(reason));
                self.state.ending.get_or_insert(RunError {
                    kind: FailureKind::Guardrail,
                    message: reason.clone(),
                });
            }
            _ => self.refuse_call(index, &withheld(reason)),
        }
    }

    /// Returns whether the run continues with an answer that it would end with. If not, the method has done what the
    /// run does instead.
    pub(crate) fn passes_guards(&mut self, end: GuardEnd, now: DateTime<Utc>) -> bool {
        match end {
            GuardEnd::Pass => return true,
            GuardEnd::Ask(reason) => {
                self.state.stage = Stage::TakeInput { closing: true };
                self.halt(HaltReason::Output(reason), now);
            }
            GuardEnd::Block(reason) => self.block_answer(&reason, now),
            GuardEnd::Trip(reason) => self.fail(FailureKind::Guardrail, reason, now),
        }
        false
    }

    /// The answer does not pass: asks once more, then ends the run.
    fn block_answer(&mut self, reason: &str, now: DateTime<Utc>) {
        self.state.mismatches = self.state.mismatches.saturating_add(1);
        if self.state.mismatches > MOST_BLOCKED {
            return self.fail(FailureKind::Guardrail, reason.to_owned(), now);
        }
        let text = format!("Your answer was withheld: {reason}. Answer again without that.");
        self.push(Message::user(text));
        self.begin_turn(now);
    }

    /// The text of the newest answer goes no further.
    pub(crate) fn withhold_answer(&mut self, reason: &str) {
        let last = self.messages().len().saturating_sub(1);
        self.replace_text(last, withheld(reason));
    }

    /// A person has decided about messages.
    pub(crate) fn decide_on_input(
        &mut self,
        doubted: Vec<Doubted>,
        choice: Option<&Choice>,
        now: DateTime<Utc>,
    ) {
        match choice {
            Some(Choice::Release) => {}
            Some(Choice::Withhold) => {
                for Doubted { message, reason } in doubted {
                    self.replace_text(message, withheld(&reason));
                }
            }
            _ => return self.fail(FailureKind::Guardrail, reasons(&doubted), now),
        }
        self.begin_turn(now);
    }

    /// A person has decided about the answer that the run would end with.
    pub(crate) fn decide_on_output(
        &mut self,
        reason: String,
        choice: Option<&Choice>,
        now: DateTime<Utc>,
    ) {
        match choice {
            Some(Choice::Release) => {
                self.state.last_text = self.messages().last().map(Message::text);
                self.state.mismatches = 0;
            }
            Some(Choice::Withhold) => {
                self.withhold_answer(&reason);
                self.block_answer(&reason, now);
            }
            _ => self.end_at_output(reason, now),
        }
    }

    /// Ends the run at an answer that no person has released.
    pub(crate) fn end_at_output(&mut self, reason: String, now: DateTime<Utc>) {
        self.withhold_answer(&reason);
        self.fail(FailureKind::Guardrail, reason, now);
    }

    /// Returns what a person reads who is asked about messages.
    pub(crate) fn shown_input(&self, doubted: &[Doubted]) -> String {
        let messages = self.messages();
        let texts = doubted.iter().map(|doubted| {
            let text = messages.get(doubted.message).map(Message::text);
            shown(&doubted.reason, &text.unwrap_or_default())
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns what a person reads who is asked about the newest answer.
    pub(crate) fn shown_output(&self, reason: &str) -> String {
        let text = self.messages().last().map(Message::text);
        shown(reason, &text.unwrap_or_default())
    }
}

/// Returns why all of these were asked about.
pub(crate) fn reasons(doubted: &[Doubted]) -> String {
    let reasons: Vec<&str> = doubted.iter().map(|it| it.reason.as_str()).collect();
    reasons.join("; ")
}

/// Returns why a person is asked, and the beginning of what they are asked about.
fn shown(reason: &str, text: &str) -> String {
    let beginning: String = text.chars().take(MOST_SHOWN).collect();
    let cut = match beginning.len() < text.len() {
        true => " […]",
        false => "",
    };
    format!("{reason}\n\n{beginning}{cut}")
}

pub(crate) fn text_of(content: &[ContentItem]) -> String {
    let texts = content.iter().filter_map(|item| match item {
        ContentItem::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
