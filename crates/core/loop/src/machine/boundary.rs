//! Between two turns: queued messages, limits, the size of the conversation, and the end.

use chrono::{DateTime, Utc};
use neuron_types::{
    ExitReason, FailureKind, HaltReason, Message, OverrideRejected, Reported, RunError, RunEvent,
    RunOutcome, Stage, TokenUsage, UserMessage, cost_sum,
};
use rust_decimal::Decimal;

use crate::{AgentMachine, Shortfall, Spent, machine::call::is_open};

/// A conversation that could not be compacted is tried again when it has grown by this part of its size.
const RETRY_COMPACTION_GROWTH: u64 = 10;

impl AgentMachine {
    pub(crate) fn take_messages(&mut self, messages: Vec<UserMessage>, now: DateTime<Utc>) {
        self.state.tree.is_waiting = false;
        for message in messages {
            self.queue_message(message);
        }
        let queued = std::mem::take(&mut self.state.queued);
        let is_closing = self.state.stage == Stage::TakeInput { closing: true };
        if is_closing && queued.is_empty() && !self.state.tree.children.is_empty() {
            self.state.tree.is_waiting = true;
            return;
        }
        if is_closing && queued.is_empty() {
            self.end(ExitReason::Complete, None);
            return;
        }
        for message in queued {
            self.push_said(Message::user(message.text));
        }
        self.begin_turn(now);
    }

    /// A message is there: the model reads it before its next call.
    pub(crate) fn queue_message(&mut self, message: UserMessage) {
        self.emit(RunEvent::MessageReceived {
            text: message.text.clone(),
        });
        self.state.queued.push(message);
    }

    /// Continues to the next model call, unless a limit is met. If the run is handed over, is to adopt the current
    /// definition, or has messages that guards have not seen, that is done first.
    pub(crate) fn begin_turn(&mut self, now: DateTime<Utc>) {
        if self.ends_for_repeats(now) {
            return;
        }
        // Before anything else is said, and before another agent reads them.
        if self.has_unguarded() {
            if self.hold_for_messages(now) {
                self.state.stage = Stage::GuardInput;
            }
            return;
        }
        if self.state.handover.is_some() || self.state.upgrade.is_some() {
            self.state.stage = Stage::Upgrade;
            return;
        }
        match self.met_limit(now) {
            None => self.state.stage = Stage::ReviewContext,
            Some(limit) => {
                self.state.stage = Stage::ReviewContext;
                match self.unknown_cost(limit) {
                    // No extension makes it known.
                    Some(error) => self.end(limit, Some(error)),
                    None => self.reach_limit(limit, now),
                }
            }
        }
    }

    fn met_limit(&self, now: DateTime<Utc>) -> Option<ExitReason> {
        let state = &self.state;
        let limits = &state.agent.limits;
        let used = || self.used();
        if state.limit.is_some() {
            state.limit
        } else if limits
            .turns
            .is_some_and(|most| self.counted_turns() >= most)
        {
            Some(ExitReason::MaxTurns)
        } else if limits.tokens.is_some_and(|most| used().tokens >= most) {
            Some(ExitReason::MaxTokens)
        } else if limits.cost_usd.is_some_and(|most| used().cost_usd >= most) {
            Some(ExitReason::MaxCost)
        } else {
            self.time_limit(now)
        }
    }

    /// Returns why the cost limit ends the run although the cost is unknown. `None` if the cost is known.
    fn unknown_cost(&self, limit: ExitReason) -> Option<RunError> {
        let state = &self.state;
        let most = state.agent.limits.cost_usd?;
        let cost_usd = cost_sum(state.cost_usd, state.tree.cost_usd);
        if limit != ExitReason::MaxCost || cost_usd.is_some() {
            return None;
        }
        let models: Vec<_> = state.agent.head.models().collect();
        let message = format!(
            "what the run costs is not known, so its limit of {most} US dollars cannot be kept: a model call of it ({}) \
             has no price here, asked for terms that its price is not about, or reported no tokens; set the prices of its \
             models where they are called",
            models.join(", ")
        );
        Some(RunError {
            kind: FailureKind::Internal,
            message,
        })
    }

    pub(crate) fn context_kept(&mut self, tokens: u64, estimated: u64, now: DateTime<Utc>) {
        self.estimate_context(tokens, estimated);
        self.reviewed(now);
    }

    pub(crate) fn compacted(
        &mut self,
        (old_tokens, new_tokens): (u64, u64),
        shortfall: Option<Shortfall>,
        spent: Spent,
        now: DateTime<Utc>,
    ) {
        self.count_context(new_tokens);
        self.state.context.reported = Reported::default();
        self.state.context.compact_from = 0;
        self.spend(&spent.usage, spent.cost_usd);
        let Spent {
            usage, cost_usd, ..
        } = spent;
        self.emit(RunEvent::ContextCompacted {
            old_tokens,
            new_tokens,
            usage,
            cost_usd,
        });
        if let Some(Shortfall { reason, tokens }) = shortfall {
            let Spent {
                usage, cost_usd, ..
            } = Spent::default();
            self.emit(RunEvent::CompactionFailed {
                reason,
                usage,
                cost_usd,
            });
            self.compact_from(tokens);
        }
        self.reviewed(now);
    }

    pub(crate) fn compaction_failed(
        &mut self,
        reason: &str,
        (tokens, estimated): (u64, u64),
        spent: Spent,
        now: DateTime<Utc>,
    ) {
        self.estimate_context(tokens, estimated);
        self.spend(&spent.usage, spent.cost_usd);
        let Spent {
            usage, cost_usd, ..
        } = spent;
        self.emit(RunEvent::CompactionFailed {
            reason: reason.to_owned(),
            usage,
            cost_usd,
        });
        if let Some(doubt) = self.state.doubt.take() {
            self.give_up(doubt.kind, doubt.message, now);
        } else if self.state.context.overflowed {
            let message = format!(
                "the conversation does not fit the model's context and could not be made smaller \
                 ({reason}); set a context strategy for the agent or use a model with a larger context"
            );
            self.give_up(FailureKind::ContextLength, message, now);
        } else {
            self.compact_from(self.state.context.tokens);
            self.reviewed(now);
        }
    }

    fn compact_from(&mut self, tokens: u64) {
        self.state.context.compact_from = tokens.saturating_add(tokens / RETRY_COMPACTION_GROWTH);
    }

    pub(crate) fn spend(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        self.state.usage.add(usage);
        self.state.cost_usd = cost_sum(self.state.cost_usd, cost_usd);
        self.spend_of_pool(usage, cost_usd);
    }

    /// Takes in what failed attempts at a model call used and cost.
    pub(crate) fn spend_on_failures(&mut self, spent: Option<&Spent>) {
        if let Some(Spent {
            usage, cost_usd, ..
        }) = spent
        {
            self.spend(usage, *cost_usd);
        }
    }

    /// The size of the conversation is to be looked at.
    pub(crate) fn review(&mut self) {
        self.state.stage = Stage::ReviewContext;
    }

    /// The conversation was looked at: the model is called, or another agent continues.
    fn reviewed(&mut self, now: DateTime<Utc>) {
        if !self.hand_over_reviewed(now) {
            self.call_model(now);
        }
    }

    /// Has the model called, if there is room for it.
    fn call_model(&mut self, now: DateTime<Utc>) {
        if !self.hold_call(now) {
            return;
        }
        self.state.turn = self.state.turn.saturating_add(1);
        let turn = self.state.turn;
        self.emit(RunEvent::TurnStarted { turn });
        self.state.stage = Stage::CallModel;
    }

    pub(crate) fn cancelled(&mut self, reason: Option<String>, now: DateTime<Utc>) {
        self.stop_waiting(now);
        let message = reason.unwrap_or_else(|| "the run was cancelled".to_owned());
        let error = RunError {
            kind: FailureKind::Cancelled,
            message,
        };
        self.end(ExitReason::Cancelled, Some(error));
    }

    /// The prompt is not what the agent is given: fails the run before anything is asked or spent.
    pub(crate) fn reject_input(&mut self, reason: &str, now: DateTime<Utc>) {
        let agent = &self.state.agent.name;
        let message =
            format!("the prompt is not the input that the agent {agent} is given: {reason}");
        self.fail(FailureKind::InvalidRequest, message, now);
    }

    /// Ends a run that asks for what its caller may not have.
    pub(crate) fn reject_overrides(&mut self, reason: &OverrideRejected, now: DateTime<Utc>) {
        let message = format!("the run is not started as it was asked for: {reason}");
        self.fail(FailureKind::InvalidRequest, message, now);
    }

    /// Ends the run with an error whose kind decides the exit reason.
    pub(crate) fn fail(&mut self, kind: FailureKind, message: String, now: DateTime<Utc>) {
        let reason = match kind {
            FailureKind::Cancelled => return self.cancelled(Some(message), now),
            FailureKind::Guardrail => ExitReason::Guardrail,
            FailureKind::Terminated => ExitReason::Terminated,
            FailureKind::ContentFilter => ExitReason::Refused,
            _ => ExitReason::Failed,
        };
        self.end(reason, Some(RunError { kind, message }));
    }

    /// Ends the run. Calls that are still open are answered, so that the conversation stays whole.
    pub(crate) fn end(&mut self, exit_reason: ExitReason, error: Option<RunError>) {
        self.leave_unjudged();
        if let Some(HaltReason::Output(reason)) = self.state.halt.take().map(|halt| halt.reason) {
            self.withhold_answer(&reason);
        }
        if self.state.calls.iter().any(|slot| is_open(&slot.state)) {
            self.refuse_open_calls("the run ended before it");
        }
        self.state.tickets.clear();
        self.state.in_flight = None;
        self.release_call();
        self.state.overdue = None;
        self.push_results();
        self.give_up_children();
        // No person is asked, and no run is answered, any more.
        self.state.budget.requests.clear();
        self.state.budget.to_tell.clear();
        self.state.budget.asks_person = false;
        self.state.tree.is_waiting = false;
        self.state.handover = None;
        if self.state.upgrade.take().is_some() {
            self.ignore_upgrade("the run ended before its next turn");
        }
        self.emit(RunEvent::RunEnded {
            exit_reason,
            output: self.state.last_text.clone(),
            error: error.clone(),
            pools: self.taken_of_pools(),
        });
        self.state.stage = Stage::Ended(RunOutcome { exit_reason, error });
    }
}
