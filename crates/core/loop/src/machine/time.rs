//! The run's two clocks: its own work, and the one on the wall.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{ExitReason, RunEvent, Stage};

use crate::{
    AgentMachine, Spent,
    machine::{
        call::{CallEvent, is_in_flight},
        tickets::after,
    },
};

impl AgentMachine {
    /// Returns when the run's time is over if nothing changes, and which limit that is. `None` where it has no such
    /// limit, and while nothing that the run does takes time of it: [`duration`](neuron_types::Limits::duration) stands
    /// still while only people are waited for.
    #[must_use]
    pub fn clock(&self) -> Option<(DateTime<Utc>, ExitReason)> {
        let state = &self.state;
        let is_ending = state.ending.is_some() || state.overdue.is_some();
        let is_over = matches!(state.stage, Stage::Ended(_));
        let asks = state.halt.is_some() && self.asks_about_limits();
        if is_ending || is_over || asks {
            return None;
        }
        let work = self
            .work_over_at()
            .filter(|_| state.waiting_since.is_none());
        let work = work.map(|at| (at, ExitReason::MaxDuration));
        let wall = self.deadline_at().map(|at| (at, ExitReason::Deadline));
        match (work, wall) {
            (Some(work), Some(wall)) if wall.0 < work.0 => Some(wall),
            (None, wall) => wall,
            (work, _) => work,
        }
    }

    /// Returns which of the run's times is over.
    pub(crate) fn time_limit(&self, now: DateTime<Utc>) -> Option<ExitReason> {
        let is_over = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= now);
        if is_over(self.work_over_at()) {
            Some(ExitReason::MaxDuration)
        } else if is_over(self.deadline_at()) {
            Some(ExitReason::Deadline)
        } else {
            None
        }
    }

    fn work_over_at(&self) -> Option<DateTime<Utc>> {
        let waited = Duration::from_millis(self.state.waited_ms);
        let duration = self.state.agent.limits.duration?;
        self.after_start(duration.checked_add(waited)?)
    }

    fn deadline_at(&self) -> Option<DateTime<Utc>> {
        self.after_start(self.state.agent.limits.deadline?)
    }

    /// A time that is further away than there are times never comes.
    fn after_start(&self, time: Duration) -> Option<DateTime<Utc>> {
        after(self.state.started_at, Some(time))
    }

    /// The time is over while something was under way. `spent` is what the calls of a context strategy had used.
    pub(crate) fn time_over(&mut self, spent: Spent, now: DateTime<Utc>) {
        let Some((_, limit)) = self.clock() else {
            return;
        };
        let is_begun = self.state.in_flight.is_some();
        self.leave_answer();
        match &self.state.stage {
            // What is in flight is left first.
            Stage::Tools => {
                self.state.overdue = Some(limit);
                return;
            }
            Stage::ReviewContext if self.waits_for_grant() => {}
            Stage::ReviewContext if self.state.halt.is_none() => self.left_review(spent),
            Stage::CallModel if self.state.halt.is_none() => self.left_model_call(),
            Stage::GuardAnswer(_) => {
                self.leave_unjudged();
                self.skip_own_call(is_begun);
                self.left_model_call();
            }
            Stage::Upgrade | Stage::GuardInput if self.state.halt.is_none() => {
                self.skip_own_call(is_begun);
            }
            _ => {}
        }
        self.reach_limit(limit, now);
    }

    /// A call of the loop's own that was to begin does not: its number is left out, as recorded runs leave it out.
    fn skip_own_call(&mut self, is_begun: bool) {
        if !is_begun {
            self.take_own_call();
        }
    }

    fn left_review(&mut self, spent: Spent) {
        self.spend(&spent.usage, spent.cost_usd);
        let Spent {
            usage, cost_usd, ..
        } = spent;
        self.emit(RunEvent::CompactionFailed {
            reason: "the run's time is over".to_owned(),
            usage,
            cost_usd,
        });
        if self.asks_about_limits() {
            self.skip_turn();
        }
    }

    fn left_model_call(&mut self) {
        self.release_call();
        let turn = self.state.turn;
        self.emit(RunEvent::TurnEnded { turn });
        if self.asks_about_limits() {
            self.state.turns_again = self.state.turns_again.saturating_add(1);
            self.state.stage = Stage::ReviewContext;
        }
    }

    /// Nothing is in flight any more, and the time is over. Calls that were dropped are made again if the run
    /// continues.
    pub(crate) fn left_overdue(&mut self, limit: ExitReason, now: DateTime<Utc>) {
        if self.asks_about_limits() {
            self.verify_again();
            self.calls(is_in_flight, &CallEvent::Left);
        }
        self.reach_limit(limit, now);
    }

    /// Returns how many turns a limit counts.
    pub(crate) fn counted_turns(&self) -> u32 {
        self.state.turn.saturating_sub(self.state.turns_again)
    }
}
