//! What a segment has going on beside itself.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::{Again, StepLife, StepTerms, given_up};
use neuron_types::{End, FailureKind, Handle, StepId};

use crate::attempts::{
    attempted::{Attempted, StepResult},
    drain::Active,
    tasks::Key,
    work::Work,
};

/// How many of the attempts in flight are named in Restate's journal.
const NAMED: usize = 3;

/// Everything that was started and whose end nobody has observed.
///
/// Every replay makes the same of it: it changes with what the loop asks for and with what the journal says, and
/// with nothing that a live attempt finds out. But for the starts of writes, which only a live attempt has made.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    count: u64,
    effects: BTreeMap<u64, Effect>,
    deadlines: BTreeMap<u64, Deadline>,
    /// Ends that nobody has observed, in their order.
    ended: VecDeque<Ended>,
    /// What has ended is kept for whoever left it, whatever it is of: so it was where the segment began.
    keeps_all: bool,
}

/// An end that nobody has observed.
#[derive(Debug)]
struct Ended {
    handle: Handle,
    end: End,
    /// It is that of a write: it is observed even if it was left.
    is_write: bool,
}

/// A model call or a tool call.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) work: Arc<Work>,
    /// The attempt that is under way or comes next, those among them that were none.
    pub(crate) attempt: u32,
    /// What the attempts before came to, and when it starts.
    pub(crate) life: StepLife,
    pub(crate) start: Start,
    /// Somebody gave it up: a write, which is asked to end early.
    pub(crate) is_left: bool,
}

/// Whether an attempt may be started.
#[derive(Debug)]
pub(crate) enum Start {
    /// At any time, and again where it is lost.
    Free,
    /// A write, when its start is journaled.
    Unjournaled,
    /// A write whose start this invocation has journaled, once.
    Once(Active),
    /// A write that was started, here or by somebody else.
    Made,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) since: DateTime<Utc>,
    pub(crate) duration: Duration,
}

impl Effect {
    fn label(&self) -> String {
        self.work.label(self.life.attempt())
    }

    /// Whether it is a write that waits for its start to be journaled, after an attempt that was none.
    pub(crate) const fn is_to_be_journaled(&self) -> bool {
        matches!(self.start, Start::Unjournaled) && self.life.due().is_some()
    }
}

/// What follows an attempt that was not the last.
#[derive(Debug)]
pub(crate) enum Followed {
    /// Another one, after a delay. Meanwhile this holds the run up.
    Retry(Box<Again>),
    /// A look whether a worker has by then what the attempt needs and this one lacks, for this reason.
    Look(String),
}

impl InFlight {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub(crate) fn start_effect(&mut self, work: Work) -> Handle {
        let number = self.next();
        let start = if work.is_write() {
            Start::Unjournaled
        } else {
            Start::Free
        };
        let effect = Effect {
            work: Arc::new(work),
            attempt: 1,
            life: StepLife::default(),
            start,
            is_left: false,
        };
        self.effects.insert(number, effect);
        Handle::new(number)
    }

    pub(crate) fn start_deadline(&mut self, since: DateTime<Utc>, duration: Duration) -> Handle {
        let number = self.next();
        self.deadlines.insert(number, Deadline { since, duration });
        Handle::new(number)
    }

    /// Takes up something that has ended already.
    pub(crate) fn start_ended(&mut self, end: End, is_write: bool) -> Handle {
        let handle = Handle::new(self.next());
        self.ended.push_back(Ended {
            handle,
            end,
            is_write,
        });
        handle
    }

    /// Keeps what has ended for whoever left it, as segments did that began under older code.
    pub(crate) fn keep_all(&mut self) {
        self.keeps_all = true;
    }

    /// Gives one up. Returns the attempt that is to be dropped or asked to end, and whether the end will still be
    /// observed.
    pub(crate) fn leave(&mut self, handle: Handle) -> (Option<Key>, bool) {
        let number = handle.number();
        self.deadlines.remove(&number);
        let Some(effect) = self.effects.get_mut(&number) else {
            let keeps_all = self.keeps_all;
            let is_kept = |ended: &Ended| ended.handle != handle || ended.is_write || keeps_all;
            self.ended.retain(is_kept);
            return (None, self.has_ended(handle));
        };
        let key = (number, effect.attempt);
        match effect.start {
            Start::Free => {
                self.effects.remove(&number);
                (Some(key), false)
            }
            Start::Unjournaled => {
                self.end(handle, Err(given_up()));
                (None, true)
            }
            Start::Once(_) | Start::Made => {
                effect.is_left = true;
                (Some(key), true)
            }
        }
    }

    /// Returns the step that was started under this handle, if it has not ended.
    pub(crate) fn step_of(&self, handle: Handle) -> Option<StepId> {
        let effect = self.effects.get(&handle.number())?;
        Some(effect.work.step.options.step)
    }

    /// Takes the first end of one of these.
    pub(crate) fn take(&mut self, asked: &[Handle]) -> Option<(Handle, End)> {
        let place = self
            .ended
            .iter()
            .position(|ended| asked.contains(&ended.handle))?;
        let Ended { handle, end, .. } = self.ended.remove(place)?;
        Some((handle, end))
    }

    fn has_ended(&self, handle: Handle) -> bool {
        self.ended.iter().any(|ended| ended.handle == handle)
    }

    /// Whether one of these can still end.
    pub(crate) fn is_any(&self, asked: &[Handle]) -> bool {
        let can_end = |handle: &Handle| {
            let number = handle.number();
            self.effects.contains_key(&number)
                || self.deadlines.contains_key(&number)
                || self.has_ended(*handle)
        };
        asked.iter().any(can_end)
    }

    /// Whether each of these has ended, or is waited for only because it could not be dropped.
    pub(crate) fn are_left(&self, asked: &[Handle]) -> bool {
        let is_left = |handle: &Handle| {
            let number = handle.number();
            let effect = self.effects.get(&number);
            !self.deadlines.contains_key(&number) && effect.is_none_or(|effect| effect.is_left)
        };
        !asked.is_empty() && asked.iter().all(is_left)
    }

    /// Whether no effect is going on.
    pub(crate) fn is_idle(&self) -> bool {
        self.effects.is_empty()
    }

    pub(crate) fn effects(&mut self) -> &mut BTreeMap<u64, Effect> {
        &mut self.effects
    }

    pub(crate) fn deadlines(&self) -> &BTreeMap<u64, Deadline> {
        &self.deadlines
    }

    /// Whether an attempt is under way or starts within this time.
    pub(crate) fn is_acting(&self, now: DateTime<Utc>, within: Duration) -> bool {
        let within = chrono::Duration::from_std(within).unwrap_or(chrono::Duration::MAX);
        let starts = |effect: &Effect| effect.life.due().is_none_or(|due| due - now <= within);
        self.effects.values().any(starts)
    }

    pub(crate) fn is_calling_model(&self) -> bool {
        self.effects.values().any(|effect| effect.work.is_model())
    }

    /// When the first attempt starts of those that wait.
    pub(crate) fn first_due(&self) -> Option<DateTime<Utc>> {
        self.effects
            .values()
            .filter_map(|effect| effect.life.due())
            .min()
    }

    /// The writes whose start is not journaled yet and that may start now, by their labels.
    pub(crate) fn unjournaled(&self, now: DateTime<Utc>) -> BTreeMap<u64, String> {
        let writes = self.unmade();
        writes
            .filter(|(_, effect)| effect.life.is_due(now))
            .map(|(number, effect)| (*number, effect.label()))
            .collect()
    }

    /// The writes whose start is not journaled yet.
    fn unmade(&self) -> impl Iterator<Item = (&u64, &Effect)> {
        let effects = self.effects.iter();
        effects.filter(|(_, effect)| matches!(effect.start, Start::Unjournaled))
    }

    /// The starts of these writes are journaled. They may be made where that was done here.
    pub(crate) fn started(&mut self, made: BTreeMap<u64, Option<Active>>) {
        for (number, active) in made {
            if let Some(effect) = self.effects.get_mut(&number) {
                effect.start = active.map_or(Start::Made, Start::Once);
            }
        }
    }

    /// Writes that were never made end as cancelled.
    pub(crate) fn cancel_unmade(&mut self) {
        let unmade: Vec<u64> = self.unmade().map(|(number, _)| *number).collect();
        for number in unmade {
            self.end(Handle::new(number), Err(given_up()));
        }
    }

    /// What a wait for all this is called in Restate's journal.
    pub(crate) fn label(&self) -> String {
        let mut effects = self.effects.values();
        let named = effects.by_ref().take(NAMED);
        let mut label = named.map(Effect::label).collect::<Vec<_>>().join(", ");
        let others = effects.count();
        if others > 0 {
            label.push_str(&format!(" and {others} more"));
        }
        label
    }

    /// Takes up what an attempt came to, as the journal has it. Returns what follows, unless it was the last.
    pub(crate) fn attempt_ended(
        &mut self,
        (number, attempt): Key,
        attempted: Attempted,
        at: DateTime<Utc>,
        may_follow: bool,
    ) -> Option<Followed> {
        let effect = self.effects.get_mut(&number)?;
        if effect.attempt != attempt {
            return None;
        }
        let Attempted { result, made } = attempted;
        let failure = match result {
            Ok(outcome) => {
                let outcome = std::mem::take(&mut effect.life).succeeded(outcome);
                self.end(Handle::new(number), Ok(outcome));
                return None;
            }
            Err(failure) => failure,
        };
        let followed = if !may_follow || effect.is_left {
            Err(effect.life.ends_with(failure))
        } else if failure.kind == FailureKind::NoWorker {
            effect.life.lacking(made.saturating_sub(1), at);
            if effect.work.is_write() {
                effect.start = Start::Unjournaled;
            }
            Ok(Followed::Look(failure.message))
        } else {
            let Work { run_id, step, .. } = effect.work.as_ref();
            let terms = StepTerms::of(run_id, &step.options);
            let again = effect.life.failed(&terms, failure, made, at);
            again.map(|again| Followed::Retry(Box::new(again)))
        };
        match followed {
            Ok(followed) => {
                effect.attempt = attempt.saturating_add(1);
                Some(followed)
            }
            Err(last) => {
                self.end(Handle::new(number), Err(last));
                None
            }
        }
    }

    /// A deadline is over. Returns when it was.
    pub(crate) fn deadline_ended(&mut self, number: u64) -> Option<DateTime<Utc>> {
        let Deadline { since, duration } = self.deadlines.remove(&number)?;
        self.ended.push_back(Ended {
            handle: Handle::new(number),
            end: End::Deadline,
            is_write: false,
        });
        Some(later(since, duration))
    }

    fn end(&mut self, handle: Handle, result: StepResult) {
        if let Some(effect) = self.effects.remove(&handle.number()) {
            self.ended.push_back(Ended {
                handle,
                end: End::Effect(result),
                is_write: effect.work.is_write(),
            });
        }
    }
}

/// A time after this one, or the last there is.
fn later(at: DateTime<Utc>, duration: Duration) -> DateTime<Utc> {
    let duration = chrono::Duration::from_std(duration).ok();
    duration
        .and_then(|duration| at.checked_add_signed(duration))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}
