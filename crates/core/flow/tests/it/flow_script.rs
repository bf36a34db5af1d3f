use chrono::{DateTime, TimeDelta, Utc};
use neuron_flow::{AttemptKey, Fact, Flow, Shown, StepLife, Then};
use neuron_types::{FailureKind, Handle, Outcome, Started, StepFailure, StepId, ToolEffects};
use proptest::{prelude::*, test_runner::TestCaseResult};

use crate::{
    flow::{CLASSES, at, cancelled, failure, flow, key, outcome, seconds, step},
    flow_model::{Going, Model, notify},
    said::{Came, Said},
};

/// More than most scripts start: some of the handles that they name are unknown.
const HANDLES: u64 = 7;

/// What a script says of an attempt.
#[derive(Debug, Clone, Copy)]
enum How {
    Done,
    Fails(FailureKind),
}

impl How {
    fn result(self) -> Result<Outcome, StepFailure> {
        match self {
            Self::Done => Ok(outcome()),
            Self::Fails(kind) => Err(failure(kind)),
        }
    }
}

/// A fact; the script does not know whether it is about anything.
#[derive(Debug, Clone, Copy)]
enum Told {
    Cancelled,
    Made(u64),
    Failing(u64, u32),
    /// By how much the number is off, and how many attempts were made.
    Ended(u64, i32, u32, How),
    Over(u64, How),
    Due(u64),
}

#[derive(Debug, Clone)]
enum Act {
    Step(ToolEffects),
    Deadline(u64),
    Leave(u64),
    Take(Vec<Told>),
    /// For whose ends, whether for signals, and the place of one that is here.
    Ask(Vec<u64>, bool, Option<u64>),
}

fn handle() -> impl Strategy<Value = u64> {
    1..=HANDLES
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        3 => Just(How::Done),
        4 => Just(How::Fails(FailureKind::Overloaded)),
        2 => Just(How::Fails(FailureKind::InvalidRequest)),
        2 => Just(How::Fails(FailureKind::NoWorker)),
        1 => Just(How::Fails(FailureKind::Cancelled)),
    ]
}

fn told() -> impl Strategy<Value = Told> {
    let off = prop_oneof![8 => Just(0), 1 => Just(-1), 1 => Just(1)];
    let ended = (handle(), off, 1_u32..3, how());
    prop_oneof![
        1 => Just(Told::Cancelled),
        5 => handle().prop_map(Told::Made),
        1 => (handle(), 1_u32..3).prop_map(|(handle, failed)| Told::Failing(handle, failed)),
        9 => ended.prop_map(|(handle, off, made, how)| Told::Ended(handle, off, made, how)),
        1 => (handle(), how()).prop_map(|(handle, how)| Told::Over(handle, how)),
        2 => handle().prop_map(Told::Due),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let signal = (any::<bool>(), prop::option::of(0_u64..20));
    let handles = prop::collection::vec(handle(), 0..5);
    let ask = (handles, signal).prop_map(|(handles, (for_signals, at))| {
        Act::Ask(handles, for_signals, at.filter(|_| for_signals))
    });
    prop_oneof![
        4 => prop::sample::select(&CLASSES).prop_map(Act::Step),
        2 => (0_u64..60).prop_map(|time| Act::Deadline(time.saturating_sub(20))),
        2 => handle().prop_map(Act::Leave),
        8 => prop::collection::vec(told(), 1..4).prop_map(Act::Take),
        5 => ask,
    ]
}

/// A flow, and the model of it that gets the same input.
struct Pair {
    flow: Flow,
    model: Model,
    now: DateTime<Utc>,
    started: u64,
    /// Ends that were handed out.
    handed_out: Vec<Handle>,
    /// What was left and is not owed.
    dropped: Vec<Handle>,
    /// Every attempt there ever was.
    keys: Vec<AttemptKey>,
}

impl Pair {
    fn new(journals_deadlines: bool) -> Self {
        let mut flow = flow();
        if journals_deadlines {
            flow = flow.with_journaled_deadlines();
        }
        Self {
            flow,
            model: Model::new(journals_deadlines),
            now: at(0),
            started: 0,
            handed_out: Vec::new(),
            dropped: Vec::new(),
            keys: Vec::new(),
        }
    }

    fn act(&mut self, act: Act) -> TestCaseResult {
        self.now += TimeDelta::seconds(7); // The flow has no clock.
        match act {
            Act::Step(effects) => {
                let turn = u32::try_from(self.started).unwrap() + 1;
                self.start(step(turn, effects).into())?;
            }
            Act::Deadline(time) => self.start(seconds(time))?,
            Act::Leave(number) => {
                let handle = Handle::new(number);
                let left = self.flow.leave(handle);
                if !left.is_owed && number <= self.started {
                    self.dropped.push(handle);
                }
                prop_assert_eq!(left, self.model.leave(handle));
            }
            Act::Take(told) => self.take(told)?,
            Act::Ask(numbers, for_signals, signal) => {
                let handles: Vec<Handle> = numbers.into_iter().map(Handle::new).collect();
                let may_be = self.flow.may_be_awaited(&handles);
                prop_assert_eq!(may_be, self.model.may_be_awaited(&handles));
                let has_ended = self.flow.has_ended(&handles);
                prop_assert_eq!(has_ended, self.model.has_ended(&handles));
                prop_assert_eq!(self.flow.are_left(&handles), self.model.are_left(&handles));
                let said = Said::of(self.flow.answer(&handles, for_signals, signal));
                prop_assert_eq!(said, self.model.answer(&handles, for_signals, signal));
                if let Said::Ended(handle, ..) = said {
                    prop_assert!(!self.handed_out.contains(&handle));
                    prop_assert!(!self.dropped.contains(&handle));
                    self.handed_out.push(handle);
                }
            }
        }
        self.looks_alike()
    }

    fn start(&mut self, what: Started) -> TestCaseResult {
        self.started += 1;
        let handle = self.model.start(what.clone(), self.now);
        let notify = notify(handle);
        prop_assert_eq!(self.flow.start(what, notify, self.now), handle);
        prop_assert_eq!(handle.number(), self.started);
        Ok(())
    }

    fn take(&mut self, told: Vec<Told>) -> TestCaseResult {
        let has_cancel = told.iter().any(|told| matches!(told, Told::Cancelled));
        self.model.begin(has_cancel);
        let (mut facts, mut wanted) = (Vec::new(), Vec::new());
        for told in told {
            let (fact, shown) = self.tell(told);
            facts.push(fact);
            wanted.extend(shown);
        }
        let then = match &facts[..] {
            [Fact::Ended { key, made, result }] => {
                let then = self.flow.then(*key, *made, result.clone(), self.now);
                Some((*key, then))
            }
            _ => None,
        };
        let shown = self.flow.take(self.now, facts);
        if let Some((key, then)) = then {
            self.came_so(key, then, &shown)?;
        }
        prop_assert_eq!(shown, wanted);
        Ok(())
    }

    /// What was taken in is what was said before.
    fn came_so(&self, key: AttemptKey, then: Option<Then>, shown: &[Shown]) -> TestCaseResult {
        let (life, shown_then) = match then {
            Some(Then::Again(life, again)) => (life, Shown::Failing(again)),
            Some(Then::Look(life, why)) => {
                let step = StepId::new(u32::try_from(key.handle.number()).unwrap(), 0);
                (life, Shown::Lacking(step, why))
            }
            Some(Then::Over(_)) => {
                prop_assert!(self.flow.has_ended(&[key.handle]));
                return Ok(());
            }
            None => {
                prop_assert!(shown.is_empty());
                return Ok(());
            }
        };
        prop_assert_eq!(shown, [shown_then]);
        let mut attempts = self.flow.attempts();
        let next = attempts.find(|attempt| attempt.key.handle == key.handle);
        let next = next.map(|attempt| (attempt.key.number, attempt.life));
        prop_assert_eq!(next, Some((key.number + 1, &life)));
        Ok(())
    }

    /// Passes the input to the model, and returns what the flow is to get and what the flow is to show.
    fn tell(&mut self, told: Told) -> (Fact, Option<Shown>) {
        let Self { model, now, .. } = self;
        match told {
            Told::Cancelled => (cancelled(), None),
            Told::Made(number) => {
                let handle = Handle::new(number);
                model.made(handle);
                (Fact::Made { handle }, None)
            }
            Told::Failing(number, failed) => {
                let handle = Handle::new(number);
                let life = StepLife::after(failed, Some(at(0)), Some(*now), None);
                model.failing(handle, life.clone());
                (Fact::Failing { handle, life }, None)
            }
            Told::Ended(number, off, made, how) => {
                let handle = Handle::new(number);
                let number = model.number(handle).unwrap_or(1);
                let key = key(handle, number.saturating_add_signed(off));
                let result = how.result();
                let shown = model.ended(key, made, &result, *now);
                (Fact::Ended { key, made, result }, shown)
            }
            // Only a step can be over in this way.
            Told::Over(number, _) if model.is_deadline(Handle::new(number)) => {
                let handle = Handle::new(number);
                (Fact::Made { handle }, None)
            }
            Told::Over(number, how) => {
                let handle = Handle::new(number);
                let result = how.result();
                let shown = model.over(handle, Came::of(&result), *now);
                (Fact::Over { handle, result }, shown)
            }
            Told::Due(number) => {
                let handle = Handle::new(number);
                model.due(handle, *now);
                (Fact::Due { handle }, None)
            }
        }
    }

    fn looks_alike(&mut self) -> TestCaseResult {
        let going = |flow: &Flow| -> Vec<Going> {
            let going = flow.attempts().map(|attempt| Going {
                key: attempt.key,
                life: attempt.life.clone(),
                is_made: attempt.is_made,
                is_left: attempt.is_left,
                notify: attempt.notify.to_vec(),
            });
            going.collect()
        };
        let found = going(&self.flow);
        prop_assert_eq!(&found, &going(&self.flow));
        let steps = self.model.steps();
        let is_begun = |step: &&Going| step.is_made || !self.model.is_cancelled();
        let begun: Vec<Going> = steps.iter().filter(is_begun).cloned().collect();
        prop_assert_eq!(found, begun);
        prop_assert_eq!(self.flow.is_idle(), self.model.is_idle());
        self.keys.extend(steps.iter().map(|step| step.key));
        for key in &self.keys {
            let is_wanted = steps.iter().any(|step| step.key == *key);
            let then = self.flow.then(*key, 1, Ok(outcome()), at(0));
            prop_assert_eq!(then.is_some(), is_wanted);
        }
        let timers: Vec<Handle> = self.flow.timers().map(|timer| timer.handle).collect();
        prop_assert_eq!(timers, self.model.deadlines());
        for handle in (1..=HANDLES).map(Handle::new) {
            prop_assert_eq!(self.flow.is_open(handle), self.model.is_open(handle));
        }
        Ok(())
    }
}

/// What became known at one place: of each handle whether it ended so, and whether the run was cancelled.
type Places = Vec<(u64, Vec<Told>)>;

prop_compose! {
    /// Ends of some of the handles, each at most once, at places that a journal numbers, and a cancel.
    fn places()(
        ends in prop::collection::vec(prop::option::weighted(0.8, (1_u64..5, any::<bool>())), 1..9),
        cancel in prop::option::of(1_u64..5),
    ) -> Places {
        let mut places: Places = (1..5).map(|place| (place, Vec::new())).collect();
        for (number, end) in (1..).zip(ends) {
            if let Some((place, is_done)) = end {
                let how = if is_done { How::Done } else { How::Fails(FailureKind::InvalidRequest) };
                let place = usize::try_from(place - 1).unwrap();
                places[place].1.push(Told::Over(number, how));
            }
        }
        if let Some(place) = cancel {
            places[usize::try_from(place - 1).unwrap()].1.push(Told::Cancelled);
        }
        places
    }
}

/// Returns what a run observes that had steps and deadlines open when it got this, and leaves what it cannot wait for.
fn observed(places: Places) -> Vec<Said> {
    let mut flow = flow();
    for number in 1..=HANDLES {
        let what = match number % 3 {
            0 => seconds(number),
            1 => step(1, ToolEffects::ReadOnly).into(),
            _ => step(1, ToolEffects::Write).into(),
        };
        flow.start(what, Vec::new(), at(0));
    }
    for (place, told) in places {
        let fact = |told| match told {
            Told::Over(number, _) if number % 3 == 0 => Fact::Due {
                handle: Handle::new(number),
            },
            Told::Over(number, how) => {
                let key = key(Handle::new(number), 1);
                Fact::Ended {
                    key,
                    made: 1,
                    result: how.result(),
                }
            }
            _ => cancelled(),
        };
        let seconds = i64::try_from(place).unwrap();
        flow.take_at(place, at(seconds), told.into_iter().map(fact));
    }
    let handles: Vec<Handle> = (1..=HANDLES).map(Handle::new).collect();
    let (kept, others): (Vec<Handle>, Vec<Handle>) = handles
        .iter()
        .partition(|handle| flow.may_be_awaited(&[**handle]));
    let mut observed = Vec::new();
    let mut wait = |flow: &mut Flow, handles: &[Handle]| {
        loop {
            let said = Said::of(flow.answer(handles, false, None));
            observed.push(said);
            if !matches!(said, Said::Ended(..)) {
                break;
            }
        }
    };
    wait(&mut flow, &kept);
    let owed: Vec<Handle> = others
        .into_iter()
        .filter(|handle| flow.leave(*handle).is_owed)
        .collect();
    wait(&mut flow, &owed);
    observed
}

proptest! {
    #[test]
    fn places_order_what_is_observed_in_whatever_order_they_are_told(
        (places, shuffled) in places().prop_flat_map(|places| {
            (Just(places.clone()), Just(places).prop_shuffle())
        }),
    ) {
        prop_assert_eq!(observed(places), observed(shuffled));
    }

    #[test]
    fn says_what_its_documentation_says(
        journals_deadlines in any::<bool>(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut pair = Pair::new(journals_deadlines);
        // In the end each is waited for, left, and waited for again.
        let end = (1..=HANDLES).flat_map(|number| {
            let ask = Act::Ask(vec![number], false, None);
            [ask.clone(), Act::Leave(number), ask]
        });
        for act in acts.into_iter().chain(end) {
            pair.act(act)?;
        }
    }
}
