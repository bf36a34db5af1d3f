//! What a flow says, as its documentation has it: kept in plain maps, without any thought of speed.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_flow::{Again, AttemptKey, Left, Shown, StepLife, StepTerms};
use neuron_types::{
    FailureKind, Handle, Outcome, RunEvent, RunNotice, Started, Step, StepFailure, StepId,
};

use crate::{
    flow::{at, run_id},
    said::{Came, Said},
};

/// An end that the run has not observed.
#[derive(Debug)]
struct Ended {
    place: u64,
    /// Which of those that have this place.
    nth: u64,
    at: DateTime<Utc>,
    came: Came,
    is_left: bool,
    is_later: bool,
}

/// What was started. It is open while it has neither ended nor is gone.
#[derive(Debug)]
struct Thing {
    what: Started,
    since: DateTime<Utc>,
    number: u32,
    life: StepLife,
    is_made: bool,
    is_left: bool,
    ended: Option<Ended>,
    /// Its end was observed, or it was dropped.
    is_gone: bool,
}

impl Thing {
    fn goes_on(&self) -> bool {
        self.ended.is_none() && !self.is_gone
    }

    fn step(&self) -> Option<&Step> {
        match &self.what {
            Started::Step(step) => Some(step),
            Started::Deadline(_) => None,
        }
    }

    fn is_write(&self) -> bool {
        self.step().is_some_and(Step::is_write)
    }

    fn failing(&self) -> Option<StepId> {
        let has_failed = self.life.failed_attempts() > 0;
        self.step()
            .filter(|_| has_failed)
            .map(|step| step.options.step)
    }
}

/// An attempt that continues.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Going {
    pub(crate) key: AttemptKey,
    pub(crate) life: StepLife,
    pub(crate) is_made: bool,
    pub(crate) is_left: bool,
    pub(crate) notify: Vec<RunNotice>,
}

#[derive(Debug, Default)]
pub(crate) struct Model {
    things: BTreeMap<Handle, Thing>,
    place: u64,
    cancelled: Option<u64>,
    ends: u64,
    journals_deadlines: bool,
}

/// What hooks are notified of before what has this handle.
pub(crate) fn notify(handle: Handle) -> Vec<RunNotice> {
    let turn = u32::try_from(handle.number()).unwrap();
    vec![RunEvent::TurnStarted { turn }.into()]
}

impl Model {
    pub(crate) fn new(journals_deadlines: bool) -> Self {
        Self {
            journals_deadlines,
            ..Self::default()
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some()
    }

    pub(crate) fn is_deadline(&self, handle: Handle) -> bool {
        let thing = self.things.get(&handle);
        thing.is_some_and(|thing| thing.step().is_none())
    }

    pub(crate) fn number(&self, handle: Handle) -> Option<u32> {
        let thing = self.things.get(&handle)?;
        thing.goes_on().then_some(thing.number)
    }

    pub(crate) fn start(&mut self, what: Started, now: DateTime<Utc>) -> Handle {
        let handle = Handle::new(self.things.len() as u64 + 1);
        let at_once = match (&what, self.cancelled) {
            (Started::Step(_), Some(place)) => Some((Came::Failed(FailureKind::Cancelled), place)),
            (Started::Deadline(time), None) if time.is_zero() && !self.journals_deadlines => {
                Some((Came::Deadline, self.place))
            }
            _ => None,
        };
        self.things.insert(
            handle,
            Thing {
                what,
                since: now,
                number: 1,
                life: StepLife::default(),
                is_made: false,
                is_left: false,
                ended: None,
                is_gone: false,
            },
        );
        if let Some((came, place)) = at_once {
            let is_later = self.is_cancelled();
            self.end(handle, came, place, now).is_later = is_later;
        }
        handle
    }

    fn end(&mut self, handle: Handle, came: Came, place: u64, at: DateTime<Utc>) -> &mut Ended {
        self.ends += 1;
        let thing = self.things.get_mut(&handle).unwrap();
        let is_left = thing.is_left;
        thing.ended.insert(Ended {
            place,
            nth: self.ends,
            at,
            came,
            is_left,
            is_later: false,
        })
    }

    pub(crate) fn leave(&mut self, handle: Handle) -> Left {
        let mut left = Left {
            handle,
            attempt: None,
            is_owed: false,
            failing: None,
            notify: Vec::new(),
        };
        let Some(thing) = self.things.get_mut(&handle).filter(|thing| !thing.is_gone) else {
            return left;
        };
        let is_write = thing.is_write();
        left.is_owed = is_write;
        thing.is_left = true;
        thing.is_gone = !is_write;
        if let Some(ended) = &mut thing.ended {
            ended.is_left = true;
        } else if thing.step().is_some() {
            let Thing { number, .. } = *thing;
            left.attempt = Some(AttemptKey { handle, number });
            left.failing = thing.failing();
            if !thing.is_made && thing.life.failed_attempts() == 0 {
                left.notify = notify(handle);
            }
            if !thing.is_made && is_write {
                let given_up = Came::Failed(FailureKind::Cancelled);
                self.end(handle, given_up, self.place, at(0));
            }
        }
        left
    }

    /// Begins to take in a set; nothing of it is taken in yet.
    pub(crate) fn begin(&mut self, has_cancel: bool) {
        self.place += 1;
        if has_cancel {
            self.cancelled.get_or_insert(self.place);
        }
    }

    fn going(&mut self, handle: Handle) -> Option<&mut Thing> {
        self.things.get_mut(&handle).filter(|thing| thing.goes_on())
    }

    fn making(&mut self, handle: Handle) -> Option<&mut Thing> {
        self.going(handle).filter(|thing| thing.step().is_some())
    }

    pub(crate) fn made(&mut self, handle: Handle) {
        if let Some(thing) = self.making(handle) {
            thing.is_made = true;
        }
    }

    pub(crate) fn failing(&mut self, handle: Handle, life: StepLife) {
        if let Some(thing) = self.making(handle) {
            thing.number = life.attempt();
            thing.life = life;
        }
    }

    pub(crate) fn due(&mut self, handle: Handle, at: DateTime<Utc>) {
        let place = self.place;
        if let Some(thing) = self.going(handle)
            && let Started::Deadline(time) = thing.what
        {
            let at = at.max(thing.since + time);
            self.end(handle, Came::Deadline, place, at);
        }
    }

    /// The step is over.
    pub(crate) fn over(&mut self, handle: Handle, came: Came, at: DateTime<Utc>) -> Option<Shown> {
        let place = self.place;
        let failing = self.making(handle)?.failing();
        self.end(handle, came, place, at);
        failing.map(Shown::Over)
    }

    pub(crate) fn ended(
        &mut self,
        key: AttemptKey,
        made: u32,
        result: &Result<Outcome, StepFailure>,
        at: DateTime<Utc>,
    ) -> Option<Shown> {
        let is_cancelled = self.is_cancelled();
        let thing = self.making(key.handle)?;
        if thing.number != key.number {
            return None;
        }
        if let Err(failure) = result
            && !is_cancelled
            && !thing.is_left
            && let Ok(shown) = thing.fails(failure, made, at)
        {
            return Some(shown);
        }
        self.over(key.handle, Came::of(result), at)
    }

    /// Returns what a wait comes upon, and hands it out.
    pub(crate) fn answer(
        &mut self,
        handles: &[Handle],
        for_signals: bool,
        signal: Option<u64>,
    ) -> Said {
        if !self.may_be_awaited(handles) {
            return Said::Cancelled;
        }
        let open = |handle: &&Handle| self.things.get(handle).is_some_and(|thing| !thing.is_gone);
        let open: Vec<Handle> = handles.iter().filter(open).copied().collect();
        let ended = |handle: &Handle| self.things[handle].ended.as_ref();
        let ends = open
            .iter()
            .filter_map(|handle| Some((ended(handle)?, *handle)));
        let ends = ends.filter(|(end, _)| signal.is_none_or(|signal| end.place < signal));
        let first = ends.min_by_key(|(end, _)| (end.place, end.nth));
        if let Some((&Ended { came, at, .. }, handle)) = first {
            self.things.get_mut(&handle).unwrap().is_gone = true;
            return Said::Ended(handle, came, at);
        }
        match signal {
            Some(_) => Said::Signal,
            None if open.is_empty() && !for_signals => Said::Never,
            None => Said::Nothing,
        }
    }

    pub(crate) fn may_be_awaited(&self, handles: &[Handle]) -> bool {
        let Some(cancelled) = self.cancelled else {
            return true;
        };
        let may_be = |handle: &Handle| match self.things.get(handle) {
            Some(thing) if !thing.is_gone => match &thing.ended {
                Some(ended) => ended.is_left || ended.is_later || ended.place < cancelled,
                None => thing.is_left,
            },
            _ => true,
        };
        !handles.is_empty() && handles.iter().all(may_be)
    }

    pub(crate) fn has_ended(&self, handles: &[Handle]) -> bool {
        let has_ended = |handle: &Handle| {
            let thing = self.things.get(handle).filter(|thing| !thing.is_gone);
            thing.is_some_and(|thing| thing.ended.is_some())
        };
        handles.iter().any(has_ended)
    }

    pub(crate) fn are_left(&self, handles: &[Handle]) -> bool {
        let is_left = |handle: &Handle| {
            let thing = self.things.get(handle).filter(|thing| thing.goes_on());
            thing.is_none_or(|thing| thing.is_left)
        };
        !handles.is_empty() && handles.iter().all(is_left)
    }

    pub(crate) fn is_open(&self, handle: Handle) -> bool {
        self.things.get(&handle).is_some_and(|thing| !thing.is_gone)
    }

    /// Returns the open steps, without the deadlines, in the order of the starts.
    pub(crate) fn steps(&self) -> Vec<Going> {
        let steps = self.things.iter().filter(|(_, thing)| thing.goes_on());
        let steps = steps.filter(|(_, thing)| thing.step().is_some());
        let going = steps.map(|(handle, thing)| Going {
            key: AttemptKey {
                handle: *handle,
                number: thing.number,
            },
            life: thing.life.clone(),
            is_made: thing.is_made,
            is_left: thing.is_left,
            notify: if thing.life.failed_attempts() == 0 {
                notify(*handle)
            } else {
                Vec::new()
            },
        });
        going.collect()
    }

    /// Whether no step is open.
    pub(crate) fn is_idle(&self) -> bool {
        let is_open = |thing: &Thing| thing.step().is_some() && !thing.is_gone;
        !self.things.values().any(is_open)
    }

    /// Returns the open deadlines.
    pub(crate) fn deadlines(&self) -> Vec<Handle> {
        let deadlines = self.things.iter().filter(|(_, thing)| thing.goes_on());
        let deadlines = deadlines.filter(|(_, thing)| thing.step().is_none());
        deadlines.map(|(handle, _)| *handle).collect()
    }
}

impl Thing {
    /// Takes in that its attempt failed. The error is the step's failure: no other attempt follows.
    fn fails(
        &mut self,
        failure: &StepFailure,
        made: u32,
        at: DateTime<Utc>,
    ) -> Result<Shown, StepFailure> {
        let options = self.step().unwrap().options.clone();
        let shown = if failure.kind == FailureKind::NoWorker {
            self.life.lacking(made - 1, at);
            self.is_made = false;
            Shown::Lacking(options.step, failure.message.clone())
        } else {
            let run_id = run_id();
            let terms = StepTerms::of(&run_id, &options);
            let mut life = self.life.clone();
            let again: Again = life.failed(&terms, failure.clone(), made, at)?;
            self.life = life;
            Shown::Failing(Box::new(again))
        };
        self.number += 1;
        Ok(shown)
    }
}
