//! What becomes of a step: how often it failed, and what follows.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::{
    ActivityOptions, FailureKind, Held, Outcome, RetryPolicy, RunId, Spent, StepFailure, StepId,
    ToolEffects,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Again, Jitter, MOST_LOST, RetryNotice, look_again, next_delay, retry::lost_workers};

/// What decides whether another attempt at a step follows, and when.
#[derive(Debug, Clone, Copy)]
pub struct StepTerms<'a> {
    /// The run.
    pub run_id: &'a RunId,
    /// What no other run has, though it may have the name.
    pub nonce: Option<Uuid>,
    /// The step.
    pub step: StepId,
    /// What may be done if an attempt fails or is lost.
    pub effects: ToolEffects,
    /// How a failed attempt is followed by another.
    pub policy: &'a RetryPolicy,
    /// For what attempts something is put aside; for all where `None`.
    pub held: Option<Held>,
}

impl<'a> StepTerms<'a> {
    /// Returns those of the step that a door makes with these options.
    #[must_use]
    pub const fn of(run_id: &'a RunId, options: &'a ActivityOptions) -> Self {
        Self {
            run_id,
            nonce: options.nonce,
            step: options.step,
            effects: options.effects,
            policy: &options.retry_policy,
            held: options.held,
        }
    }
}

impl StepTerms<'_> {
    /// Returns whether something is put aside for an attempt after those before.
    fn provides_after(&self, spent: Option<&Spent>) -> bool {
        self.held.is_none_or(|held| held.covers_another(spent))
    }
}

/// Returns the failure of a step when nothing is put aside for its next attempt.
fn out_of_budget(last: StepFailure) -> StepFailure {
    StepFailure {
        kind: FailureKind::OutOfBudget,
        retryable: false,
        ..last
    }
}

/// How often a step has failed, since when, and what that cost. It takes the results of the attempts, and returns what
/// follows.
///
/// A step's life is pure: for the same input it returns the same output on every engine and after every replay. It can
/// be kept between two attempts wherever an engine has room, and continue from there in another process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepLife {
    /// How many attempts failed, of those that were any.
    #[serde(default, skip_serializing_if = "is_none")]
    counted: u32,
    /// How many attempts in a row found that their worker lacks what they need. These attempts do not count.
    #[serde(default, skip_serializing_if = "is_none")]
    looks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<Box<Spent>>,
    /// How many workers in a row were lost before the attempt that is under way.
    #[serde(default, skip_serializing_if = "is_none")]
    lost: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

impl StepLife {
    /// Returns the life of a step with this number of failed attempts. The first of them failed at this time, and the
    /// next attempt is due at that one: at once where `None`. `spent` is what the attempts used and cost, as far as
    /// that is known.
    #[must_use]
    pub const fn after(
        failed: u32,
        since: Option<DateTime<Utc>>,
        due: Option<DateTime<Utc>>,
        spent: Option<Box<Spent>>,
    ) -> Self {
        Self {
            counted: failed,
            looks: 0,
            since,
            due,
            spent,
            lost: 0,
        }
    }

    /// Returns it as that of a step whose first attempt failed at this time.
    #[must_use]
    pub const fn failing_since(mut self, since: Option<DateTime<Utc>>) -> Self {
        self.since = since;
        self
    }

    /// Returns it as that of a step of whose attempts nothing is known to have been used: what they used is kept elsewhere.
    #[must_use]
    pub fn without_spent(mut self) -> Self {
        self.spent = None;
        self
    }

    /// Returns whether nothing has failed.
    #[must_use]
    pub fn is_new(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the number of the attempt that is under way or comes next, counted from 1.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.counted.saturating_add(1)
    }

    /// Returns how many attempts have failed.
    #[must_use]
    pub const fn failed_attempts(&self) -> u32 {
        self.counted
    }

    /// Returns when the first attempt failed, if one did.
    #[must_use]
    pub const fn since(&self) -> Option<DateTime<Utc>> {
        self.since
    }

    /// Returns when the next attempt starts; at once if `None`.
    #[must_use]
    pub const fn due(&self) -> Option<DateTime<Utc>> {
        self.due
    }

    /// Returns whether the next attempt may start.
    #[must_use]
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.due.is_none_or(|due| due <= now)
    }

    /// Returns what the attempts used and cost that failed, as far as their failures say, and how many were lost.
    #[must_use]
    pub fn spent(&self) -> Option<Box<Spent>> {
        Spent::sum(self.spent.clone(), Spent::of_lost(self.lost))
    }

    /// Takes in that attempts were made, one after the other, and that the newest failed so. Returns the one that follows.
    ///
    /// # Errors
    ///
    /// The step's failure, with what all attempts used and cost: no other follows.
    pub fn failed(
        &mut self,
        terms: &StepTerms<'_>,
        failure: StepFailure,
        made: u32,
        at: DateTime<Utc>,
    ) -> Result<Again, StepFailure> {
        self.counted = self.counted.saturating_add(made);
        self.follow(terms, failure, at)
    }

    /// Takes in that an attempt was cut short because its worker stops: it does not count. Returns the one that follows.
    ///
    /// # Errors
    ///
    /// As [`failed`](Self::failed).
    pub fn interrupted(
        &mut self,
        terms: &StepTerms<'_>,
        failure: StepFailure,
        at: DateTime<Utc>,
    ) -> Result<Again, StepFailure> {
        self.follow(terms, failure, at)
    }

    fn follow(
        &mut self,
        terms: &StepTerms<'_>,
        failure: StepFailure,
        at: DateTime<Utc>,
    ) -> Result<Again, StepFailure> {
        self.looks = 0;
        let since = *self.since.get_or_insert(at);
        let is_lost = terms.held.is_some() && failure.kind == FailureKind::Timeout;
        // The usage of an attempt that did not end in time is unknown.
        let failure = failure.with_spent(Spent::of_lost(u32::from(is_lost)));
        let failure = failure.with_spent(self.spent());
        (self.spent, self.lost) = (None, 0);
        let jitter = Jitter::new(terms.run_id, terms.nonce, terms.step);
        let attempt = self.counted;
        let delay = next_delay(terms.policy, terms.effects, &jitter, attempt, &failure);
        let failing_for = (at - since).to_std().unwrap_or_default();
        let delay = delay.filter(|delay| terms.policy.is_in_time(failing_for, *delay));
        let Some(delay) = delay else {
            return Err(failure);
        };
        if !terms.provides_after(failure.spent.as_deref()) {
            return Err(out_of_budget(failure));
        }
        self.spent.clone_from(&failure.spent);
        let due = later(at, delay);
        self.due = Some(due);
        let attempt = attempt.max(1);
        let notice = RetryNotice::new(terms.run_id.clone(), terms.step, attempt, failure, delay);
        Ok(Again { due, since, notice })
    }

    /// Takes in that the worker of an attempt lacks what it needs, so that nothing was done, after this number of
    /// failed attempts. Returns when a worker is looked for again.
    pub fn lacking(&mut self, failed: u32, at: DateTime<Utc>) -> DateTime<Utc> {
        self.counted = self.counted.saturating_add(failed);
        self.looks = self.looks.saturating_add(1);
        let due = later(at, look_again(self.looks));
        self.due = Some(due);
        due
    }

    /// Takes in that the step's worker was lost so often in a row. Returns the step's failure if it may be what ends them, or if
    /// nothing is put aside for another attempt. A write is made once: what becomes of it is said elsewhere.
    #[must_use]
    pub fn lost(&mut self, terms: &StepTerms<'_>, times: u32) -> Option<StepFailure> {
        if times == 0 || terms.effects == ToolEffects::Write {
            return None;
        }
        if terms.held.is_some() {
            self.lost = times;
        }
        let failure = lost_workers(times);
        if times >= MOST_LOST {
            return Some(self.ends_with(failure));
        }
        let is_over = !terms.provides_after(self.spent().as_deref());
        is_over.then(|| self.ends_with(out_of_budget(failure)))
    }

    /// Returns the failure of a step that no attempt follows any more, with what all of them used and cost.
    #[must_use]
    pub fn ends_with(&self, failure: StepFailure) -> StepFailure {
        failure.with_spent(self.spent())
    }

    /// Returns the result of the step, with what the failed attempts before it used and cost.
    #[must_use]
    pub fn succeeded(&self, outcome: Outcome) -> Outcome {
        outcome.with_spent_before(self.spent())
    }
}

/// A time after this one, or the last there is.
pub(crate) fn later(at: DateTime<Utc>, duration: Duration) -> DateTime<Utc> {
    let duration = TimeDelta::from_std(duration).ok();
    duration
        .and_then(|duration| at.checked_add_signed(duration))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}
