//! The steps and deadlines that a run has open beside itself, and the ends that it has yet to observe.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    DurableError, End, Handle, Outcome, RunId, RunNotice, Started, StepFailure, StepId,
};

use crate::{
    Answer, Attempt, AttemptKey, Fact, Left, Shown, StepLife, StepTerms, Then, Timer, given_up,
    going::{Deadline, Going, Making, What},
    nothing_to_wait_for,
};

/// How many of the attempts in flight are named where all of them are.
const NAMED: usize = 3;

/// The place of a signal that came behind everything that is known.
pub const BEHIND_ALL: u64 = u64::MAX;

/// Everything that a run has started and whose end it has not observed, and the ends that it can observe.
///
/// A flow takes what the run asks for and what became [known](Fact), and returns what is to be done and what the run
/// observes. A flow does neither I/O nor waiting, and has no clock: for the same input it returns the same output on
/// every engine and after every replay. What is to be done follows from the flow's state. The door looks at that state
/// anew each time, so nothing that the flow returned once can be missed.
///
/// # What it guarantees
///
/// - Handles are numbered from 1 on, and none is used twice. An end is handed out once, and never that of a handle that was
///   [left](Self::leave) and is not owed.
/// - Ends are handed out in the order in which they became known. The first end of a handle counts.
/// - That the run is cancelled counts before what became known together with it. From then on it can wait only for what had
///   ended before, was left, or was started later and so has ended as cancelled.
/// - No attempt follows one that ends after the run was cancelled or the step was left.
/// - A signal to another run is sent in a cancelled run as in any other: with such a signal the run reports that it has
///   ended.
/// - What is over is not held on to: a request is dropped before its answer is handed out.
#[derive(Debug)]
pub struct Flow {
    run_id: RunId,
    started: u64,
    /// Where the newest of what became known has its place in the order.
    place: u64,
    /// In the order of the starts. There are few at a time: a list keeps its room where a map would ask for it anew.
    going: Vec<Going>,
    /// In the order in which they became known.
    over: Vec<Over>,
    cancelled: Option<Cancelled>,
    /// A deadline of no time is over when it is said to be.
    journals_deadlines: bool,
}

/// An end that the run has not observed.
#[derive(Debug)]
struct Over {
    place: u64,
    at: DateTime<Utc>,
    handle: Handle,
    end: End,
    /// Its end is observed even if it is left.
    is_owed: bool,
    /// A cancelled run can wait for it: it was left, or was started later.
    may_be_awaited: bool,
}

#[derive(Debug)]
struct Cancelled {
    place: u64,
    reason: Option<String>,
}

impl Flow {
    /// Returns the flow of a run, or of a segment of a run, that has started nothing.
    #[must_use]
    pub const fn new(run_id: RunId) -> Self {
        Self {
            run_id,
            started: 0,
            place: 0,
            going: Vec::new(),
            over: Vec::new(),
            cancelled: None,
            journals_deadlines: false,
        }
    }

    /// Has every deadline end when it is [said](Fact::Due) to be over, those of no time too: for a journal that a replay
    /// reads ahead of what the run asks for. Default is that a deadline of no time is over when it is started.
    #[must_use]
    pub const fn with_journaled_deadlines(mut self) -> Self {
        self.journals_deadlines = true;
        self
    }

    /// Takes up something that the run starts at this time, and returns the handle of its end.
    ///
    /// `notify` is what hooks are to be notified of before the step, if it is one. A deadline of no time is over at once,
    /// and so, as cancelled, is whatever a cancelled run does.
    pub fn start(&mut self, what: Started, notify: Vec<RunNotice>, now: DateTime<Utc>) -> Handle {
        let handle = Handle::new(self.started + 1);
        self.start_as(handle, what, notify, now)
    }

    /// As [`start`](Self::start), under a handle that is behind all that were used: for a journal that numbers them.
    pub fn start_as(
        &mut self,
        handle: Handle,
        what: Started,
        notify: Vec<RunNotice>,
        now: DateTime<Utc>,
    ) -> Handle {
        self.started = self.started.max(handle.number());
        let what = match what {
            Started::Step(step) => {
                if let Some(Cancelled { place, .. }) = self.cancelled
                    && !step.effect.is_signal()
                {
                    let end = End::Effect(Err(given_up()));
                    return self.start_ended(handle, end, step.is_write(), place, now);
                }
                What::Step(Box::new(Making {
                    step,
                    number: 1,
                    life: StepLife::default(),
                    is_made: false,
                    lost: 0,
                    notify,
                }))
            }
            Started::Deadline(Duration::ZERO)
                if self.cancelled.is_none() && !self.journals_deadlines =>
            {
                return self.start_ended(handle, End::Deadline, false, self.place, now);
            }
            Started::Deadline(time) => What::Deadline(Deadline { since: now, time }),
        };
        self.going.push(Going {
            handle,
            what,
            is_left: false,
        });
        handle
    }

    fn start_ended(
        &mut self,
        handle: Handle,
        end: End,
        is_owed: bool,
        place: u64,
        at: DateTime<Utc>,
    ) -> Handle {
        self.put(Over {
            place,
            at,
            handle,
            end,
            is_owed,
            may_be_awaited: self.cancelled.is_some(),
        });
        handle
    }

    fn put(&mut self, over: Over) {
        let behind = self.over.partition_point(|other| other.place <= over.place);
        self.over.insert(behind, over);
    }

    /// Gives up what was started.
    ///
    /// The end of a write is owed: one that is made is asked to end early, and one that is not has ended as given up.
    /// Anything else is dropped, also if it has ended.
    pub fn leave(&mut self, handle: Handle) -> Left {
        if let Some(index) = self.index_of(handle) {
            return self.leave_going(index, handle);
        }
        let is_dropped = |over: &Over| over.handle == handle && !over.is_owed;
        self.over.retain(|over| !is_dropped(over));
        let owed = self.over.iter_mut().find(|over| over.handle == handle);
        let is_owed = owed.is_some();
        if let Some(owed) = owed {
            owed.may_be_awaited = true;
        }
        Left {
            is_owed,
            ..Left::nothing(handle)
        }
    }

    fn leave_going(&mut self, index: usize, handle: Handle) -> Left {
        let mut left = Left::nothing(handle);
        let Some(going) = self.going.get_mut(index) else {
            return left;
        };
        if let What::Step(making) = &mut going.what {
            left.attempt = Some(making.key(handle));
            left.failing = making.failing();
            left.is_owed = making.step.is_write();
            if !making.is_made {
                left.notify = making.notify().to_vec();
            } else if left.is_owed {
                going.is_left = true;
                return left;
            }
        }
        self.going.remove(index);
        if left.is_owed {
            self.put(Over {
                place: self.place,
                at: DateTime::UNIX_EPOCH,
                handle,
                end: End::Effect(Err(given_up())),
                is_owed: true,
                may_be_awaited: true,
            });
        }
        left
    }

    /// Takes in what became known together, at this time, behind everything that was known before.
    ///
    /// Returns what there is to be shown of it: nothing, most often.
    pub fn take(&mut self, at: DateTime<Utc>, facts: impl IntoIterator<Item = Fact>) -> Vec<Shown> {
        let place = self.place + 1;
        self.take_at(place, at, facts)
    }

    /// As [`take`](Self::take), of what has this place in the order: for a journal that numbers them.
    pub fn take_at(
        &mut self,
        place: u64,
        at: DateTime<Utc>,
        facts: impl IntoIterator<Item = Fact>,
    ) -> Vec<Shown> {
        self.place = self.place.max(place);
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        if facts.len() > 1 {
            // A cancel counts first, wherever it stands among them.
            facts.sort_by_key(|fact| !matches!(fact, Fact::Cancelled { .. }));
        }
        let mut shown = Vec::new();
        for fact in facts {
            match fact {
                Fact::Cancelled { reason } => {
                    self.cancelled.get_or_insert(Cancelled { place, reason });
                }
                Fact::Made { handle } => {
                    if let Some(making) = self.making(handle) {
                        making.is_made = true;
                    }
                }
                Fact::Failing { handle, life } => {
                    if let Some(making) = self.making(handle) {
                        making.number = life.attempt();
                        making.life = life;
                    }
                }
                Fact::Lost { handle } => {
                    if let Some(failure) = self.lost(handle) {
                        let end = End::Effect(Err(failure));
                        shown.extend(self.end(handle, end, place, at));
                    }
                }
                Fact::Ended { key, made, result } => match self.then(key, made, result, at) {
                    Some(Then::Over(result)) => {
                        shown.extend(self.end(key.handle, End::Effect(result), place, at));
                    }
                    Some(Then::Again(life, again)) => {
                        self.follow(key.handle, life);
                        shown.push(Shown::Failing(again));
                    }
                    Some(Then::Look(life, why)) => {
                        let step = self.follow(key.handle, life);
                        self.is_not_made(key.handle);
                        shown.extend(step.map(|step| Shown::Lacking(step, why)));
                    }
                    None => {}
                },
                Fact::Over { handle, result } => {
                    shown.extend(self.end(handle, End::Effect(result), place, at));
                }
                Fact::Due { handle } => {
                    let is_deadline =
                        |going: &Going| going.handle == handle && going.deadline().is_some();
                    if self.going.iter().any(is_deadline) {
                        self.end(handle, End::Deadline, place, at);
                    }
                }
            }
        }
        shown
    }

    /// Another worker was lost at the step. Returns its failure if that were too many in a row.
    fn lost(&mut self, handle: Handle) -> Option<StepFailure> {
        let run_id = self.run_id.clone();
        let making = self.making(handle)?;
        making.lost = making.lost.saturating_add(1);
        let terms = StepTerms::of(&run_id, &making.step.options);
        making.life.lost(&terms, making.lost)
    }

    /// Returns what follows if an attempt ends with this result at this time: what [`take`](Self::take) makes of it. A
    /// journal writes the return value before it counts. `None` if nothing waits for the attempt.
    ///
    /// `made` is how many attempts were made by then under this name.
    #[must_use]
    pub fn then(
        &self,
        key: AttemptKey,
        made: u32,
        result: Result<Outcome, StepFailure>,
        at: DateTime<Utc>,
    ) -> Option<Then> {
        let going = self.going.get(self.index_of(key.handle)?)?;
        let What::Step(making) = &going.what else {
            return None;
        };
        if making.number != key.number {
            return None;
        }
        let goes_on = !self.is_cancelled() || making.step.effect.is_signal();
        let may_follow = goes_on && !going.is_left;
        Some(match result {
            Ok(outcome) => Then::Over(Ok(making.life.succeeded(outcome))),
            Err(failure) if !may_follow => Then::Over(Err(making.life.ends_with(failure))),
            Err(failure) => making.failed(&self.run_id, failure, made, at),
        })
    }

    /// Starts the next attempt at a step, and returns the step.
    fn follow(&mut self, handle: Handle, life: StepLife) -> Option<StepId> {
        let making = self.making(handle)?;
        making.life = life;
        making.lost = 0;
        making.number = making.number.saturating_add(1);
        Some(making.step.options.step)
    }

    /// A worker that lacks what a step needs has not begun it.
    fn is_not_made(&mut self, handle: Handle) {
        if let Some(making) = self.making(handle) {
            making.is_made = false;
        }
    }

    fn end(&mut self, handle: Handle, end: End, place: u64, at: DateTime<Utc>) -> Option<Shown> {
        let going = self.going.remove(self.index_of(handle)?);
        let may_be_awaited = going.may_be_awaited();
        let (is_owed, failing) = match &going.what {
            What::Step(making) => (making.step.is_write(), making.failing()),
            What::Deadline(_) => (false, None),
        };
        let at = match &going.what {
            // A wait for a time finds that the time is over, whichever clock reported that.
            What::Deadline(deadline) => at.max(deadline.due()),
            What::Step(_) => at,
        };
        self.put(Over {
            place,
            at,
            handle,
            end,
            is_owed,
            may_be_awaited,
        });
        failing.map(Shown::Over)
    }

    /// Returns what a wait for the ends of these handles observes. The wait is for signals too if `for_signals` is set.
    ///
    /// Ends come in the order in which they became known. `signal` says that one of the signals is here: behind everything
    /// that is known where it is [`BEHIND_ALL`], else at its place in the order.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`] if the run is cancelled, unless there are handles and it
    /// [can wait for](Self::may_be_awaited) each; an engine's error if nothing that is waited for can come.
    pub fn answer(
        &mut self,
        handles: &[Handle],
        for_signals: bool,
        signal: Option<u64>,
    ) -> Result<Answer, DurableError> {
        if !self.may_be_awaited(handles) {
            return Err(self.cancelled().unwrap_or_else(nothing_to_wait_for));
        }
        let is_before = |over: &Over| signal.is_none_or(|signal| over.place < signal);
        let is_asked = |over: &Over| handles.contains(&over.handle) && is_before(over);
        if let Some(index) = self.over.iter().position(is_asked) {
            let Over {
                handle, end, at, ..
            } = self.over.remove(index);
            return Ok(Answer::Ended(handle, end, at));
        }
        if signal.is_some() {
            return Ok(Answer::Signal);
        }
        if !for_signals
            && !handles
                .iter()
                .any(|handle| self.index_of(*handle).is_some())
        {
            return Err(nothing_to_wait_for());
        }
        Ok(Answer::Nothing)
    }

    /// Returns whether the run can wait for these: it is not cancelled, or each has ended before, was left, was
    /// observed, or was started later.
    #[must_use]
    pub fn may_be_awaited(&self, handles: &[Handle]) -> bool {
        let Some(cancelled) = &self.cancelled else {
            return true;
        };
        let may_be = |handle: &Handle| {
            let is_it = |over: &&Over| over.handle == *handle;
            match (self.index_of(*handle), self.over.iter().find(is_it)) {
                (Some(index), _) => self.going.get(index).is_some_and(Going::may_be_awaited),
                (None, Some(over)) => over.may_be_awaited || over.place < cancelled.place,
                (None, None) => true,
            }
        };
        !handles.is_empty() && handles.iter().all(may_be)
    }

    /// Returns the error of every wait in a run that is cancelled; `None` if the run is not cancelled.
    #[must_use]
    pub fn cancelled(&self) -> Option<DurableError> {
        let Cancelled { reason, .. } = self.cancelled.as_ref()?;
        let reason = reason.clone();
        Some(DurableError::Cancelled { reason })
    }

    /// Returns whether the run is cancelled.
    #[must_use]
    pub const fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    /// Returns the attempts that are to be made or continue, in the order in which their steps were started. A
    /// cancelled run begins no attempt, so attempts that have not begun are not included.
    pub fn attempts(&self) -> impl Iterator<Item = Attempt<'_>> {
        let is_cancelled = self.is_cancelled();
        self.steps().filter(move |attempt| {
            attempt.is_made || !is_cancelled || attempt.step.effect.is_signal()
        })
    }

    /// The same, with those that a cancelled run does not begin.
    fn steps(&self) -> impl Iterator<Item = Attempt<'_>> {
        self.going.iter().filter_map(|going| {
            let What::Step(making) = &going.what else {
                return None;
            };
            Some(Attempt {
                key: making.key(going.handle),
                step: &making.step,
                life: &making.life,
                is_made: making.is_made,
                is_left: going.is_left,
                notify: making.notify(),
            })
        })
    }

    /// The times that are waited for, in the order in which they were started.
    pub fn timers(&self) -> impl Iterator<Item = Timer> {
        self.going.iter().filter_map(|going| {
            let deadline = going.deadline()?;
            Some(Timer {
                handle: going.handle,
                time: deadline.time,
                due: deadline.due(),
            })
        })
    }

    /// Takes in that all [attempts](Self::attempts) are under way: their steps are [made](Fact::Made).
    pub fn makes_all(&mut self) {
        if self.is_cancelled() {
            return;
        }
        for going in &mut self.going {
            if let What::Step(making) = &mut going.what {
                making.is_made = true;
            }
        }
    }

    /// Returns whether this was started and its end was neither observed nor dropped.
    #[must_use]
    pub fn is_open(&self, handle: Handle) -> bool {
        self.index_of(handle).is_some() || self.over.iter().any(|over| over.handle == handle)
    }

    /// Returns whether one of these has ended and can be observed.
    #[must_use]
    pub fn has_ended(&self, handles: &[Handle]) -> bool {
        let mut over = self.over.iter();
        over.any(|over| handles.contains(&over.handle))
    }

    /// Returns whether each of these is waited for only because it was left, is sent in a cancelled run too, or is not
    /// open, and there is at least one.
    #[must_use]
    pub fn are_left(&self, handles: &[Handle]) -> bool {
        let is_left = |handle: &Handle| match self.index_of(*handle) {
            Some(index) => self.going.get(index).is_some_and(Going::may_be_awaited),
            None => true,
        };
        !handles.is_empty() && handles.iter().all(is_left)
    }

    /// Returns whether the run has observed or left every step that it started: only then can the run continue in
    /// another segment.
    ///
    /// That a step has ended makes no difference: a replay may know of that sooner.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is_unobserved = |over: &Over| matches!(over.end, End::Effect(_));
        self.steps().next().is_none() && !self.over.iter().any(is_unobserved)
    }

    /// Names the open steps for a person: three steps at most, and how many others there are.
    #[must_use]
    pub fn label(&self) -> String {
        let mut attempts = self.attempts();
        let named = attempts.by_ref().take(NAMED);
        let mut label = named
            .map(|attempt| attempt.label())
            .collect::<Vec<_>>()
            .join(", ");
        let others = attempts.count();
        if others > 0 {
            label.push_str(&format!(" and {others} more"));
        }
        label
    }

    fn index_of(&self, handle: Handle) -> Option<usize> {
        self.going.iter().position(|going| going.handle == handle)
    }

    fn making(&mut self, handle: Handle) -> Option<&mut Making> {
        let mut going = self.going.iter_mut();
        match &mut going.find(|going| going.handle == handle)?.what {
            What::Step(making) => Some(making),
            What::Deadline(_) => None,
        }
    }
}
