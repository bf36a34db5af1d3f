//! What a run asks a person before it ends: what becomes of a step that gave up, or of a limit that is reached.

use std::{borrow::Cow, fmt::Display, mem, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, Amount, Choice, ExitReason, Extension, FailureKind, Halt, HaltReason, Message,
    OnExpiry, OnHalt, OpenTicket, RunError, RunEvent, RunPhase, Stage, Ticket, TicketKind,
    cost_sum, ticket_digest,
};

use crate::{
    AgentMachine,
    machine::{
        agent_machine::scope_of, answer::answer_again, budget::Room, call::awaits_judges,
        guards::reasons, tickets::after,
    },
};

impl AgentMachine {
    /// A step gave up: a person is asked what now, or the run ends with its failure.
    pub(crate) fn give_up(&mut self, kind: FailureKind, message: String, now: DateTime<Utc>) {
        if self.asks_about(kind) {
            self.halt(HaltReason::Failure(RunError { kind, message }), now);
        } else {
            self.fail(kind, message, now);
        }
    }

    /// Returns whether a person is asked about such a failure. A failure that a person decided on already cannot be
    /// repaired.
    pub(crate) fn asks_about(&self, kind: FailureKind) -> bool {
        self.state.agent.on_failure == OnHalt::Ask
            && !matches!(
                kind,
                FailureKind::Cancelled
                    | FailureKind::Guardrail
                    | FailureKind::Terminated
                    | FailureKind::ContentFilter
            )
    }

    /// Returns whether a person is asked about a limit that is reached.
    pub(crate) fn asks_about_limits(&self) -> bool {
        self.state.agent.on_limit == OnHalt::Ask
    }

    /// A limit is reached: a person is asked what now, or the run ends.
    pub(crate) fn reach_limit(&mut self, limit: ExitReason, now: DateTime<Utc>) {
        if self.asks_about_limits() {
            self.halt(HaltReason::Limit(limit), now);
        } else {
            self.stop_waiting(now);
            self.end(limit, None);
        }
    }

    /// Nothing continues until a person decides.
    pub(crate) fn halt(&mut self, reason: HaltReason, now: DateTime<Utc>) {
        if self.state.halt.is_some() {
            // What a person is asked already has to be decided first.
            return;
        }
        if let Some(lease) = &mut self.state.budget.lease {
            // When the run continues, it asks again for what it needs then.
            lease.is_waiting = false;
        }
        self.state.halts = self.state.halts.saturating_add(1);
        let ticket = self.ticket_about(&reason, now);
        self.state.halt = Some(Halt {
            ticket: ticket.ticket.clone(),
            reason,
        });
        self.state.tickets.push(OpenTicket {
            ticket: ticket.clone(),
            lifetime: self.state.agent.approval_timeout,
            ..OpenTicket::default()
        });
        let turn = self.state.turn;
        self.emit(RunEvent::ApprovalRequested { turn, ticket });
        self.stop_waiting(now);
        self.wait_for_people(now);
    }

    fn ticket_about(&self, reason: &HaltReason, now: DateTime<Utc>) -> Ticket {
        let (kind, reason, text, choices) = match reason {
            HaltReason::Failure(RunError { kind, message }) => (
                TicketKind::Failure,
                "a step of the run gave up",
                format!("{kind}: {message}"),
                choices_of_failure(&self.state.agent),
            ),
            HaltReason::Input(doubted) => (
                TicketKind::Guard,
                "a guard asks about what the model is to read",
                self.shown_input(doubted),
                Choice::listed(TicketKind::Guard),
            ),
            HaltReason::Loop(reason) => (
                TicketKind::Guard,
                "the run repeats itself",
                reason.clone(),
                vec![Choice::Release.to_string(), Choice::End.to_string()],
            ),
            HaltReason::Output(reason) => (
                TicketKind::Guard,
                "a guard asks about the answer",
                self.shown_output(reason),
                Choice::listed(TicketKind::Guard),
            ),
            HaltReason::Limit(limit) => (
                TicketKind::Budget,
                "a limit of the run is reached",
                self.used_of(*limit, now),
                vec![
                    format!("extend:{}=VALUE", key_of(*limit)),
                    Choice::End.to_string(),
                ],
            ),
            _ => (
                TicketKind::Failure,
                "the run stopped",
                String::new(),
                Vec::new(),
            ),
        };
        let mut ticket = Ticket {
            ticket: format!("{}{kind}-{}", scope_of(&self.state), self.state.halts),
            kind,
            run: self.state.run.clone(),
            agent: self.agent_of_steps(),
            reason: reason.to_owned(),
            text: Some(text),
            choices,
            opened_at: now,
            expires_at: after(now, self.state.agent.approval_timeout),
            ..Ticket::default()
        };
        let directory = self.state.directory.as_deref();
        ticket.digest = ticket_digest(&ticket, self.state.lineage.nonce, directory);
        ticket
    }

    /// Returns which limit is reached, and what was used, in a sentence.
    fn used_of(&self, limit: ExitReason, now: DateTime<Utc>) -> String {
        let state = &self.state;
        let limits = &state.agent.limits;
        let most = |most: Option<String>| most.unwrap_or_else(|| "no".to_owned());
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs().to_string());
        let elapsed = (now - state.started_at).num_seconds();
        match limit {
            ExitReason::MaxTurns => {
                let used = self.counted_turns();
                format!(
                    "the run has made {used} of {} turns",
                    most(limits.turns.map(|n| n.to_string()))
                )
            }
            ExitReason::MaxToolCalls => {
                let used = state.tool_calls;
                let most = most(limits.tool_calls.map(|n| n.to_string()));
                format!("the run has made {used} of {most} tool calls")
            }
            ExitReason::MaxTokens => {
                let used = self.used().tokens;
                let most = most(limits.tokens.map(|n| n.to_string()));
                let more = self.wanted().map(|need| need.tokens);
                let more = self.more_of(more, self.given().tokens, "tokens");
                format!(
                    "{} used {used} of {most} tokens{more}",
                    self.and_those_below()
                )
            }
            ExitReason::MaxCost => {
                let used = match cost_sum(state.cost_usd, state.tree.cost_usd) {
                    Some(_) => self.used().cost_usd.to_string(),
                    None => "an unknown part".to_owned(),
                };
                let most = most(limits.cost_usd.map(|n| n.to_string()));
                let more = self.wanted().map(|need| need.cost_usd);
                let more = self.more_of(more, self.given().cost_usd, "US dollars");
                format!(
                    "{} cost {used} of {most} US dollars{more}",
                    self.and_those_below()
                )
            }
            ExitReason::Deadline => {
                let most = most(seconds(limits.deadline));
                format!("the run started {elapsed} s ago, and has {most} s")
            }
            ExitReason::MaxDuration => {
                let waited = i64::try_from(state.waited_ms / 1_000).unwrap_or(i64::MAX);
                let worked = elapsed.saturating_sub(waited);
                format!(
                    "the run has worked for {worked} of {} s",
                    most(seconds(limits.duration))
                )
            }
            other => format!("the run ends: {other:?}"),
        }
    }

    /// Who has used a budget.
    const fn and_those_below(&self) -> &'static str {
        match self.state.tree.started {
            0 => "the run has",
            _ => "the run and those below it have",
        }
    }

    /// Returns what is missing for what a run below has asked for first, or for its own model call.
    fn wanted(&self) -> Option<Amount> {
        match self.state.budget.requests.first() {
            Some(request) => Some(self.left_of(self.limited()).lacking(request.need.own)),
            None => match self.next_room() {
                Room::Short(shortage) => Some(shortage.need.own),
                Room::Unbounded | Room::For(_) => None,
            },
        }
    }

    /// Returns, in words, what is granted of a budget to runs that are open, and how much more the run needs to
    /// continue.
    fn more_of<T: Display + PartialOrd + Default + Copy>(
        &self,
        more: Option<T>,
        given: T,
        what: &str,
    ) -> String {
        let mut text = String::new();
        if given > T::default() {
            text = format!(", and runs below it may use {given} more");
        }
        let who = match self.state.budget.requests.first() {
            Some(request) => format!("the run {}", request.run),
            None => "the next model call".to_owned(),
        };
        if let Some(more) = more.filter(|more| *more > T::default()) {
            text.push_str(&format!("; {who} needs {more} {what} more than there are"));
        }
        text
    }

    /// The run waits for people, and reports that once.
    pub(crate) fn wait_for_people(&mut self, now: DateTime<Utc>) {
        if self.state.waiting_since.is_none() {
            self.state.waiting_since = Some(now);
            self.emit(RunEvent::Waiting {
                state: RunPhase::WaitingForApproval,
            });
        }
    }

    /// Takes why the run goes no further, if this ticket is about it.
    pub(crate) fn take_halt(&mut self, ticket: &str) -> Option<Halt> {
        let halt = self.state.halt.take_if(|halt| halt.ticket == ticket)?;
        self.state.budget.asks_person = false;
        Some(halt)
    }

    /// Withdraws what a person was asked about, which no longer holds: the run continues.
    pub(crate) fn withdraw_halt(&mut self, now: DateTime<Utc>) {
        if let Some(Halt { ticket, .. }) = self.state.halt.take() {
            self.close_ticket(&ticket);
            self.emit(RunEvent::ApprovalExpired { ticket });
            self.stop_waiting(now);
            self.resume_halted(now);
        }
    }

    /// Continues as a person chose.
    pub(crate) fn go_on_as_chosen(&mut self, halt: Halt, choice: Option<&str>, now: DateTime<Utc>) {
        let chosen = choice.unwrap_or_default();
        let of_guard = || Choice::parse(TicketKind::Guard, chosen).ok();
        let kind = match halt.reason {
            HaltReason::Limit(_) => TicketKind::Budget,
            HaltReason::Input(doubted) => {
                return self.decide_on_input(doubted, of_guard().as_ref(), now);
            }
            HaltReason::Loop(reason) => {
                if of_guard() != Some(Choice::Release) {
                    return self.fail(FailureKind::Guardrail, reason, now);
                }
                self.forget_repeats();
                return self.begin_turn(now);
            }
            HaltReason::Output(reason) => {
                return self.decide_on_output(reason, of_guard().as_ref(), now);
            }
            _ => TicketKind::Failure,
        };
        match Choice::parse(kind, chosen) {
            Ok(Choice::Retry) => self.retry(&halt.reason, now),
            Ok(Choice::RetryWith(model)) => {
                self.pin_model(&model);
                self.retry(&halt.reason, now);
            }
            Ok(Choice::Extend { key, by }) => match Extension::parse(&key, &by) {
                Ok(extension) => {
                    self.raise(extension, now);
                    self.resume_halted(now);
                }
                // A ticket does not take what cannot be read.
                Err(_) => self.end_halted(halt.reason, now),
            },
            _ => self.end_halted(halt.reason, now),
        }
    }

    /// Raises a limit by this amount. A deadline that is over counts from now.
    fn raise(&mut self, extension: Extension, now: DateTime<Utc>) {
        let elapsed = (now - self.state.started_at).to_std().unwrap_or_default();
        let limits = &mut self.state.agent.limits;
        if let Extension::Deadline(_) = extension {
            limits.deadline = limits.deadline.map(|deadline| deadline.max(elapsed));
        }
        extension.raise(limits);
        self.note_raised(extension);
    }

    /// Makes the step again, in a turn of its own. A model whose answer was rejected reads so: not every provider takes a
    /// conversation that ends with the model's own words.
    fn retry(&mut self, after: &HaltReason, now: DateTime<Utc>) {
        if let HaltReason::Failure(RunError { kind, message }) = after
            && *kind == FailureKind::InvalidAnswer
        {
            self.push(Message::user(answer_again(message)));
        }
        if self.state.stage == Stage::ReviewContext {
            self.skip_turn();
        } else {
            self.state.turns_again = self.state.turns_again.saturating_add(1);
        }
        self.state.mismatches = 0;
        self.state.context.continuations = 0;
        self.state.context.overflowed = false;
        self.state.doubt = None;
        self.begin_turn(now);
    }

    /// The calls of a context strategy are made again, which no limit counts: no two steps of a run have one id.
    pub(crate) fn skip_turn(&mut self) {
        self.state.turn = self.state.turn.saturating_add(1);
        self.state.turns_again = self.state.turns_again.saturating_add(1);
    }

    /// Continues where the run was when a limit was reached.
    fn resume_halted(&mut self, now: DateTime<Utc>) {
        match self.state.stage {
            Stage::ReviewContext | Stage::GuardInput => self.begin_turn(now),
            Stage::Tools => {
                // There may be room now for judges that had no room before.
                for index in self.positions(awaits_judges) {
                    self.hold_for_call(index);
                }
                self.settle(now);
            }
            _ => {}
        }
    }

    /// Ends the run as it would have ended without asking.
    fn end_halted(&mut self, reason: HaltReason, now: DateTime<Utc>) {
        match reason {
            HaltReason::Failure(RunError { kind, message }) => self.fail(kind, message, now),
            HaltReason::Limit(limit) => self.end(limit, None),
            HaltReason::Input(doubted) => {
                self.fail(FailureKind::Guardrail, reasons(&doubted), now);
            }
            HaltReason::Output(reason) => self.end_at_output(reason, now),
            HaltReason::Loop(reason) => self.fail(FailureKind::Guardrail, reason, now),
            _ => self.fail(FailureKind::Internal, "the run stopped".to_owned(), now),
        }
    }

    /// No person decided in time.
    pub(crate) fn lapse_halt(&mut self, halt: Halt, now: DateTime<Utc>) {
        let is_limit = matches!(halt.reason, HaltReason::Limit(_));
        // A run that is to fail for want of a decision does so at a limit, too.
        if !(is_limit && self.state.agent.on_expiry == OnExpiry::Fail) {
            self.end_halted(halt.reason, now);
        }
    }

    /// Asks this model first for the rest of the run, and then those that follow it in the list. What is set for the
    /// provider of the first model alone goes with it.
    fn pin_model(&mut self, model: &str) {
        if let Some((provider, name)) = model.split_once('/') {
            let head = self.state.agent.head_mut();
            if head.provider.as_deref() != Some(provider) {
                head.thinking = None;
                head.context_management = None;
                head.extra = None;
            }
            let mut others = mem::take(&mut head.fallback_models).into_iter();
            others.by_ref().find(|other| other == model);
            head.fallback_models = others.collect();
            head.provider = Some(provider.to_owned());
            name.clone_into(&mut head.model);
        }
    }
}

fn choices_of_failure(agent: &AgentSpec) -> Vec<String> {
    let others = other_models(agent).into_iter().map(Choice::RetryWith);
    let choices = [Choice::Retry].into_iter().chain(others);
    let choices = choices.chain([Choice::End]);
    choices.map(|choice| choice.to_string()).collect()
}

/// The models of the agent, as `provider/model`, but for the one that is asked first.
fn other_models(agent: &AgentSpec) -> Vec<String> {
    let others = agent.head.models().skip(1);
    others.map(Cow::into_owned).collect()
}

/// The limit's name in the agent file.
const fn key_of(limit: ExitReason) -> &'static str {
    match limit {
        ExitReason::MaxTurns => "turns",
        ExitReason::MaxToolCalls => "tool_calls",
        ExitReason::MaxTokens => "tokens",
        ExitReason::MaxCost => "cost_usd",
        ExitReason::Deadline => "deadline",
        _ => "duration",
    }
}
