//! Waiting for whatever comes first, as the journal has it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::{given_up, lost_write};
use neuron_types::{DurableError, Signal};
use restate_sdk::errors::TerminalError;
use tokio::time::Instant;

use crate::{
    attempts::{attempted::Attempted, drain::Active},
    door::{
        cancellation::{Cancellation, Durable, Handle},
        in_flight::Start,
        mailbox::Mailbox,
        segment::{Next, Segment},
        steps::Steps,
    },
    wire::{
        entries::{AttemptEnd, Observation, WritesStarted},
        messages::CONTINUED,
        meter::ASK,
    },
};

/// How long a step may take before what was emitted is written beside it: the steps of a turn that take less are
/// written together.
const GRACE: Duration = Duration::from_millis(200);

/// What a segment waits with. Operations are made one after another: the SDK wants one at a time.
///
/// # The one wait
///
/// The SDK cannot wait for a step and for anything else at the same time. So effects are no steps: they are
/// attempts in this worker's registry. A journaled step, the wait, starts those that are due, and comes to its
/// end when one of them ends, when the mailbox or a timer has news, when the run is cancelled, or when it has
/// taken so long that Restate would take the run for idle. What ended is its value. Where no attempt is under
/// way, the promises and timers are awaited without a step, so that Restate can suspend the run.
///
/// This is the one place that awaits the context inside `run`. It creates no journal entry: promises and timers
/// are created before the step, and what has arrived by the end of the step is known at the end of the step in
/// every replay too, since the journal holds both in their order. When the server asks an invocation to suspend,
/// an invocation that awaits something gives up its steps; so a wait ends before that. Should the server ask
/// earlier, the SDK finds the step among what is awaited, and ends the invocation's attempt. Restate makes
/// another, and it joins the attempts in the registry.
pub(crate) struct Waits<'a> {
    pub(crate) cancellation: Cancellation<'a>,
    pub(crate) mailbox: Mailbox,
    /// Deadlines, by their numbers.
    timers: BTreeMap<u64, Durable<'a, ()>>,
    /// What is slept for until the next attempt is due.
    delay: Option<(DateTime<Utc>, Durable<'a, ()>)>,
    /// Something that is done: who races with it does not wait.
    done: Handle,
    /// The newest wait came to its end without news.
    is_quiet: bool,
}

impl<'a> Waits<'a> {
    /// Listens from the beginning of the segment on. What has arrived by the end of the next step is known then.
    pub(crate) fn new(
        steps: &Steps<'a>,
        cancellation: Cancellation<'a>,
        mut mailbox: Mailbox,
    ) -> Self {
        steps.meter.count(ASK);
        // Any question that is answered at once would do.
        let done = Handle::next(steps.ctx);
        drop(steps.ctx.get::<bool>(CONTINUED));
        mailbox.coming(steps.ctx, &steps.meter);
        Self {
            cancellation,
            mailbox,
            timers: BTreeMap::new(),
            delay: None,
            done,
            is_quiet: false,
        }
    }

    /// The segment's first step is journaled: what has arrived before is known from now on.
    pub(crate) async fn settle(&mut self, steps: &Steps<'a>) -> Result<(), DurableError> {
        self.mailbox.settle();
        match self.look_for_cancellation(steps).await {
            // The first operation says so.
            Err(DurableError::Cancelled { .. }) => Ok(()),
            other => other,
        }
    }

    /// Takes the next signal of one of these names that is already here.
    pub(crate) async fn poll(
        &mut self,
        segment: &Segment<'a>,
        names: &[&str],
    ) -> Result<Option<Signal>, DurableError> {
        loop {
            self.cancellation.check()?;
            if let Some(signal) = self.mailbox.take(names) {
                return Ok(Some(signal));
            }
            if let Some(coming) = self.mailbox.settled()
                && !self.is_done(&segment.steps, coming).await?
            {
                return Ok(None);
            }
            if !self.receive(segment).await? {
                return Ok(None);
            }
        }
    }

    /// Waits until something has happened, or for a while where attempts are under way.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`] when it is noticed, or what keeps the engine from journaling.
    pub(crate) async fn observe(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        if self.cancellation.error().is_some() {
            segment.in_flight().cancel_unmade();
        }
        self.journal_starts(segment).await?;
        self.prepare(segment);
        let is_acting = segment
            .in_flight()
            .is_acting(segment.ledger().clock.now(), segment.pulse);
        if !is_acting
            || self.is_quiet
            || segment.in_flight().is_calling_model()
            || segment.ledger().is_late()
        {
            segment.flush();
        }
        let news = if is_acting {
            self.step(segment).await?
        } else {
            self.park(segment).await?;
            true
        };
        self.is_quiet = !self.look(segment).await? && !news;
        Ok(())
    }

    /// Journals that writes are started, before any of them is made.
    async fn journal_starts(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        let now = segment.ledger().clock.now();
        let writes = segment.in_flight().unjournaled(now);
        if writes.is_empty() {
            return Ok(());
        }
        let labels: Vec<&str> = writes.values().map(String::as_str).collect();
        let name = format!("start {}", labels.join(", "));
        let made = Mutex::new(BTreeMap::new());
        let start = || async {
            let drain = &segment.steps.worker.drain;
            let started = writes
                .keys()
                .filter_map(|number| Some((*number, drain.begin()?)));
            let started: BTreeMap<u64, Active> = started.collect();
            let numbers = started.keys().copied().collect();
            *made.lock().unwrap_or_else(PoisonError::into_inner) = started;
            let at = Utc::now();
            WritesStarted { at, numbers }
        };
        let started = segment
            .steps
            .run(&mut self.cancellation, name, start)
            .await?;
        let WritesStarted { at, numbers } = segment.steps.meter.read(started);
        segment.ledger().clock.advance(at);
        // Those that a stopping worker did not start are another worker's to start.
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        let started = numbers.into_iter();
        let started = started.map(|number| (number, made.remove(&number)));
        segment.in_flight().started(started.collect());
        Ok(())
    }

    /// Creates what is awaited: the next signal's promise, and timers.
    fn prepare(&mut self, segment: &Segment<'a>) {
        let Steps { ctx, meter, .. } = &segment.steps;
        self.mailbox.coming(ctx, meter);
        let in_flight = segment.in_flight();
        let deadlines = in_flight.deadlines();
        self.timers
            .retain(|number, _| deadlines.contains_key(number));
        for (number, deadline) in deadlines {
            self.timers.entry(*number).or_insert_with(|| {
                meter.count(ASK);
                Box::pin(ctx.sleep(deadline.duration))
            });
        }
        let now = segment.ledger().clock.now();
        let due = in_flight.first_due();
        if in_flight.is_acting(now, segment.pulse) {
            self.delay = None;
        } else if self.delay.as_ref().map(|(at, _)| *at) != due {
            self.delay = due.map(|due| -> (_, Durable<'a, ()>) {
                meter.count(ASK);
                let delay = (due - now).to_std().unwrap_or_default();
                (due, Box::pin(ctx.sleep(delay)))
            });
        }
    }

    /// What is awaited beside attempts.
    fn handles(&mut self, segment: &Segment<'a>) -> Vec<Handle> {
        let Steps { ctx, meter, .. } = &segment.steps;
        let coming = self.mailbox.coming(ctx, meter);
        let timers = self.timers.values().map(|timer| &**timer);
        let delay = self.delay.iter().map(|(_, delay)| &**delay);
        let timers = timers.chain(delay).map(Handle::of);
        self.cancellation
            .handle()
            .into_iter()
            .chain(timers)
            .chain([coming])
            .collect()
    }

    /// Waits with attempts under way, as a journaled step. Returns whether any ended.
    async fn step(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        let mut handles = self.handles(segment);
        handles.push(Handle::next(segment.steps.ctx));
        let patience = if segment.ledger().has_news() {
            GRACE.min(segment.pulse)
        } else {
            segment.pulse
        };
        let label = segment.in_flight().label();
        let wait = || watch(segment, handles, patience);
        let observed = segment
            .steps
            .run(&mut self.cancellation, label, wait)
            .await?;
        if observed.value().cancelled {
            return Err(self.cancellation.by_restate());
        }
        let Observation { at, ends, .. } = segment.steps.meter.read(observed);
        self.mailbox.settle();
        segment.ledger().clock.advance(at);
        let may_follow = self.cancellation.error().is_none();
        let news = !ends.is_empty();
        for end in ends {
            segment.attempt_ended(end, at, may_follow);
        }
        Ok(news)
    }

    /// Waits with no attempt under way. Restate may suspend the run meanwhile.
    async fn park(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        let handles = self.handles(segment);
        let first = Handle::first(segment.steps.ctx, &handles);
        let first = segment.steps.sink.watch(first).await;
        first
            .map(drop)
            .map_err(|error| self.cancellation.engine_error(&error))
    }

    /// Takes up what the promises and timers say by now. Returns whether they say anything.
    async fn look(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        self.look_for_cancellation(&segment.steps).await?;
        let mut news = false;
        let timers = self.timers.iter();
        let timers: Vec<_> = timers
            .map(|(number, timer)| (*number, Handle::of(&**timer)))
            .collect();
        for (number, timer) in timers {
            if self.is_done(&segment.steps, timer).await? {
                self.timers.remove(&number);
                let at = segment.in_flight().deadline_ended(number);
                // Whoever waited for a time must find that it is over.
                at.into_iter()
                    .for_each(|at| segment.ledger().clock.advance(at));
                news = true;
            }
        }
        if let Some((due, delay)) = &self.delay {
            let (due, delay) = (*due, Handle::of(&**delay));
            if self.is_done(&segment.steps, delay).await? {
                self.delay = None;
                segment.ledger().clock.advance(due);
                news = true;
            }
        }
        let coming = self.mailbox.coming(segment.steps.ctx, &segment.steps.meter);
        if self.is_done(&segment.steps, coming).await? {
            news |= self.receive(segment).await?;
        }
        Ok(news)
    }

    async fn look_for_cancellation(&mut self, steps: &Steps<'a>) -> Result<(), DurableError> {
        if let Some(handle) = self.cancellation.handle()
            && self.is_done(steps, handle).await?
        {
            return Err(self.cancellation.take().await);
        }
        Ok(())
    }

    /// Whether this is done, as far as the journal says by now. Waits for nothing.
    async fn is_done(&mut self, steps: &Steps<'a>, handle: Handle) -> Result<bool, DurableError> {
        let first = Handle::first(steps.ctx, &[handle, self.done]).await;
        match first {
            Ok(first) => Ok(first == 0),
            Err(error) => Err(self.cancellation.engine_error(&error)),
        }
    }

    /// Takes in the next signal, if it is here.
    async fn receive(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        let Steps { ctx, meter, .. } = &segment.steps;
        match self.mailbox.receive(ctx, meter).await {
            Ok(at) => {
                at.into_iter()
                    .for_each(|at| segment.ledger().clock.advance(at));
                Ok(at.is_some())
            }
            Err(error) => Err(self.cancellation.engine_error(&error)),
        }
    }
}

/// Starts the attempts that are due, and waits until one has ended, one of these is done, or it takes too long.
async fn watch(segment: &Segment<'_>, handles: Vec<Handle>, patience: Duration) -> Observation {
    let until = Instant::now() + patience;
    let observation = |ends, cancelled| Observation {
        at: Utc::now(),
        ends,
        cancelled,
    };
    loop {
        // Listens before it looks, so that no end is missed in between.
        let mut news = std::pin::pin!(segment.attempts.news());
        news.as_mut().enable();
        let Begun {
            ends,
            due,
            is_to_be_journaled,
        } = begin(segment);
        if is_to_be_journaled || !ends.is_empty() {
            return observation(ends, false);
        }
        let due = due.map(|due| Instant::now() + (due - Utc::now()).to_std().unwrap_or_default());
        let first: Result<usize, TerminalError> = tokio::select! {
            biased;
            first = Handle::first(segment.steps.ctx, &handles) => first,
            () = news => continue,
            () = tokio::time::sleep_until(due.map_or(until, |due| due.min(until))) => {
                if Instant::now() < until {
                    continue;
                }
                Ok(0)
            }
        };
        return observation(Vec::new(), first.is_err());
    }
}

/// What was found when attempts were started.
struct Begun {
    /// Those that have ended.
    ends: Vec<AttemptEnd>,
    /// When the next is due.
    due: Option<DateTime<Utc>>,
    /// A write is due, and its start has to be journaled first.
    is_to_be_journaled: bool,
}

/// Starts the attempts that are due.
fn begin(segment: &Segment<'_>) -> Begun {
    let (now, worker) = (Utc::now(), segment.steps.worker);
    let (mut ends, mut next_due) = (Vec::new(), None::<DateTime<Utc>>);
    let (mut wanted, mut starts) = (Vec::new(), Vec::new());
    let mut is_to_be_journaled = false;
    let mut in_flight = segment.in_flight();
    let is_alone = in_flight.effects().len() == 1;
    let mut steps = BTreeMap::new();
    for (number, effect) in in_flight.effects() {
        steps.insert(*number, effect.work.step.options.step);
        let key = (*number, effect.attempt);
        let next = || Next {
            key,
            life: effect.life.clone(),
            work: Arc::clone(&effect.work),
        };
        if segment.attempts.has(key, || worker.drain.begin()) {
            wanted.push(key);
            continue;
        }
        if let Some(due) = effect.life.due().filter(|due| *due > now) {
            next_due = Some(next_due.map_or(due, |next| next.min(due)));
            continue;
        }
        // A stopping worker starts none.
        is_to_be_journaled |= effect.is_to_be_journaled() && worker.drain.begin().is_some();
        let refused = match std::mem::replace(&mut effect.start, Start::Made) {
            // It is made where that is known to be the first time.
            Start::Once(_) if effect.is_left => Some(given_up()),
            Start::Once(active) => {
                starts.push((next(), active));
                None
            }
            Start::Made => Some(lost_write()),
            start @ (Start::Free | Start::Unjournaled) => {
                let is_free = matches!(start, Start::Free);
                effect.start = start;
                // A stopping worker starts none: it is another worker's.
                if let Some(active) = worker.drain.begin().filter(|_| is_free) {
                    starts.push((next(), active));
                }
                None
            }
        };
        match refused {
            Some(failure) => ends.push((key, Attempted::from(Err(failure)))),
            None => wanted.push(key),
        }
    }
    drop(in_flight);
    for (next, active) in starts {
        segment.begin(next, active, is_alone);
    }
    ends.extend(segment.attempts.results(|key| wanted.contains(&key)));
    let ends = ends
        .into_iter()
        .map(|((number, attempt), attempted)| AttemptEnd {
            number,
            attempt,
            step: steps.get(&number).copied(),
            made: attempted.made,
            result: attempted.result,
        });
    Begun {
        ends: ends.collect(),
        due: next_due,
        is_to_be_journaled,
    }
}
