//! Waiting for whatever comes first, as the journal has it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use neuron_flow::{Fact, Timer, given_up, lost_write};
use neuron_types::{DurableError, Effect, Handle, Step};
use restate_sdk::errors::TerminalError;
use tokio::time::Instant;

use crate::{
    attempts::{attempted::Attempted, drain::Active},
    door::{
        cancellation::{Awaited, Cancellation, Durable},
        child_ends::ChildEnds,
        mailbox::Mailbox,
        segment::Segment,
        steps::Steps,
    },
    wire::{
        entries::{AttemptEnd, Observation, WritesStarted},
        messages::CONTINUED,
        meter::ASK,
    },
};

/// How long a step may take before what was emitted is written beside it: shorter steps of a turn are written together.
const GRACE: Duration = Duration::from_millis(200);

/// The state with which a segment waits. Operations are made one after another: the SDK wants one at a time.
///
/// # The one wait
///
/// The SDK cannot wait for a step and for anything else at the same time. So effects are not steps: they are
/// attempts in this worker's registry. A journaled step, the wait, starts those that are due. It ends when one of them
/// ends, when the mailbox or a timer has news, when the run is cancelled, or when it has
/// taken so long that Restate would consider the run idle. Its value is what ended. If no attempt is in
/// flight, signals and timers are awaited without a step, so that Restate can suspend the run.
///
/// This is the one place that awaits the context inside `run`. It creates no journal entry: signals have none, and
/// timers are created before the step. What has arrived by the end of the step is known at the end of the step in every
/// replay too, since the journal has both in their order. When the server asks an invocation to suspend, an invocation
/// that awaits something gives up its steps; so a wait ends before that. If the server asks earlier, the SDK finds the
/// step among what is awaited, and ends the invocation's attempt. Restate makes another attempt, which joins the
/// attempts in the registry.
pub(crate) struct Waits<'a> {
    pub(crate) cancellation: Cancellation<'a>,
    pub(crate) mailbox: Mailbox,
    /// The ends of other runs, in a first segment.
    pub(crate) ends: Option<ChildEnds>,
    /// Deadlines.
    timers: BTreeMap<Handle, (Timer, Durable<'a, ()>)>,
    /// The sleep until the next attempt is due.
    delay: Option<(DateTime<Utc>, Durable<'a, ()>)>,
    /// A handle that is done: a race with it does not wait.
    done: Awaited,
    /// Whether the newest wait ended without news.
    is_quiet: bool,
    /// The place of what becomes known now: everything that becomes known together has one place.
    place: u64,
}

impl<'a> Waits<'a> {
    /// Listens from the beginning of the segment on. What has arrived by the end of the next step is known then.
    pub(crate) fn new(
        steps: &Steps<'a>,
        cancellation: Cancellation<'a>,
        mut mailbox: Mailbox,
    ) -> Self {
        steps.meter.count(ASK);
        // Any request that is answered at once would do.
        let done = Awaited::next(steps.ctx);
        drop(steps.ctx.get::<bool>(CONTINUED));
        mailbox.coming(steps.ctx);
        Self {
            cancellation,
            mailbox,
            ends: None,
            timers: BTreeMap::new(),
            delay: None,
            done,
            is_quiet: false,
            place: 0,
        }
    }

    /// Records that the segment's first step is journaled: what has arrived before is known from now on.
    pub(crate) async fn settle(&mut self, steps: &Steps<'a>) -> Result<(), DurableError> {
        match self.look_for_cancellation(steps).await {
            // The first operation returns that error.
            Err(DurableError::Cancelled { .. }) => Ok(()),
            other => other,
        }
    }

    /// Records whether the run is cancelled, at the same place as what became known last.
    pub(crate) fn tell_cancelled(&self, segment: &Segment<'a>) {
        if let Some(DurableError::Cancelled { reason }) = self.cancellation.error() {
            let now = segment.ledger().clock.now();
            let cancelled = [Fact::Cancelled { reason }];
            drop(segment.flow().take_at(self.place, now, cancelled));
        }
    }

    /// Receives signals that have already arrived, until one has one of these names or no other is left.
    pub(crate) async fn look_for_signal(
        &mut self,
        segment: &Segment<'a>,
        names: &[&str],
    ) -> Result<(), DurableError> {
        self.place += 1;
        if self.cancellation.error().is_none() && !self.mailbox.has(names) {
            self.receive_ends(segment).await?;
        }
        while self.cancellation.error().is_none() && !self.mailbox.has(names) {
            let coming = self.mailbox.coming(segment.steps.ctx);
            if !self.is_done(&segment.steps, coming).await? {
                break;
            }
            self.receive(segment).await?;
        }
        Ok(())
    }

    /// Waits until something has happened, or for a while if attempts are in flight.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`] when it is noticed, or the error that keeps the engine from journaling.
    pub(crate) async fn observe(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        self.place += 1;
        if self.send_to_others(segment)? {
            return Ok(());
        }
        self.journal_starts(segment).await?;
        self.prepare(segment);
        let is_acting = is_acting(segment);
        if !is_acting || self.is_quiet || is_calling_model(segment) || segment.ledger().is_late() {
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

    /// Sends messages for other runs: runs that are to be started, and signals. The server has them with the journal,
    /// and delivers them. Returns whether there were any.
    fn send_to_others(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        let sent: Vec<(Handle, Arc<Step>)> = {
            let flow = segment.flow();
            let attempts = flow.attempts();
            let sent = attempts.filter(|attempt| attempt.step.effect.is_of_door());
            sent.map(|attempt| (attempt.key.handle, Arc::clone(attempt.step)))
                .collect()
        };
        let mut facts = Vec::new();
        for (handle, step) in &sent {
            let result = Ok(segment.send_to_other(&step.effect, self.ends.as_mut())?);
            facts.push(Fact::Over {
                handle: *handle,
                result,
            });
        }
        let now = segment.ledger().clock.now();
        let are_any = !facts.is_empty();
        drop(segment.flow().take_at(self.place, now, facts));
        Ok(are_any)
    }

    /// Journals that writes are started, before any of them is made.
    async fn journal_starts(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        let now = segment.ledger().clock.now();
        let writes: BTreeMap<u64, String> = {
            let flow = segment.flow();
            let writes = flow.attempts().filter(|attempt| {
                !attempt.is_made && attempt.step.is_write() && attempt.life.is_due(now)
            });
            writes
                .map(|write| (write.key.handle.number(), write.label()))
                .collect()
        };
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
        // Writes that a stopping worker did not start are left to another worker.
        let handles: Vec<_> = numbers.into_iter().map(Handle::new).collect();
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        let made = made
            .into_iter()
            .map(|(number, active)| (Handle::new(number), active));
        segment
            .permits()
            .extend(made.filter(|(handle, _)| handles.contains(handle)));
        let facts = handles.into_iter().map(|handle| Fact::Made { handle });
        drop(segment.flow().take_at(self.place, at, facts));
        Ok(())
    }

    /// Creates what is to be awaited: the next signal, and timers.
    fn prepare(&mut self, segment: &Segment<'a>) {
        let Steps { ctx, meter, .. } = &segment.steps;
        self.mailbox.coming(ctx);
        let flow = segment.flow();
        let deadlines: Vec<_> = flow.timers().collect();
        self.timers
            .retain(|handle, _| deadlines.iter().any(|timer| timer.handle == *handle));
        for timer in deadlines {
            self.timers.entry(timer.handle).or_insert_with(|| {
                meter.count(ASK);
                (timer, Box::pin(ctx.sleep(timer.time)))
            });
        }
        let due = flow.attempts().filter_map(|attempt| attempt.life.due());
        let due = due.min();
        drop(flow);
        let now = segment.ledger().clock.now();
        if is_acting(segment) {
            self.delay = None;
        } else if self.delay.as_ref().map(|(at, _)| *at) != due {
            self.delay = due.map(|due| -> (_, Durable<'a, ()>) {
                meter.count(ASK);
                let delay = (due - now).to_std().unwrap_or_default();
                (due, Box::pin(ctx.sleep(delay)))
            });
        }
    }

    /// Returns what is awaited beside attempts.
    fn handles(&mut self, segment: &Segment<'a>) -> Vec<Awaited> {
        let coming = self.mailbox.coming(segment.steps.ctx);
        let timers = self.timers.values().map(|(_, timer)| &**timer);
        let delay = self.delay.iter().map(|(_, delay)| &**delay);
        let timers = timers.chain(delay).map(Awaited::of);
        self.cancellation
            .handle()
            .into_iter()
            .chain(timers)
            .chain([coming])
            .chain(self.ends.iter().flat_map(ChildEnds::handles))
            .collect()
    }

    /// Waits with attempts in flight, as a journaled step. Returns whether any ended.
    async fn step(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        let mut handles = self.handles(segment);
        handles.push(Awaited::next(segment.steps.ctx));
        let patience = if segment.ledger().has_news() {
            GRACE.min(segment.pulse)
        } else {
            segment.pulse
        };
        let label = segment.flow().label();
        let wait = || watch(segment, handles, patience);
        let observed = segment
            .steps
            .run(&mut self.cancellation, label, wait)
            .await?;
        if observed.value().cancelled {
            return Err(self.cancellation.by_restate());
        }
        let observation: Observation = segment.steps.meter.read(observed);
        segment.ledger().clock.advance(observation.at);
        let news = !observation.ends.is_empty();
        segment.observed(self.place, observation);
        Ok(news)
    }

    /// Waits with no attempt in flight. Restate may suspend the run meanwhile.
    async fn park(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        let handles = self.handles(segment);
        let first = Awaited::first(segment.steps.ctx, &handles);
        let first = segment.steps.sink.watch(first).await;
        first
            .map(drop)
            .map_err(|error| self.cancellation.engine_error(&error))
    }

    /// Takes what signals and timers have by now. Returns whether there is anything.
    async fn look(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        self.look_for_cancellation(&segment.steps).await?;
        let mut news = false;
        let timers = self.timers.values();
        let timers: Vec<_> = timers
            .map(|(timer, sleep)| (*timer, Awaited::of(&**sleep)))
            .collect();
        for (timer, sleep) in timers {
            if self.is_done(&segment.steps, sleep).await? {
                let Timer { handle, due, .. } = timer;
                self.timers.remove(&handle);
                // A caller that waited for a time must find that it is over.
                segment.ledger().clock.advance(due);
                let over = [Fact::Due { handle }];
                drop(segment.flow().take_at(self.place, due, over));
                news = true;
            }
        }
        if let Some((due, delay)) = &self.delay {
            let (due, delay) = (*due, Awaited::of(&**delay));
            if self.is_done(&segment.steps, delay).await? {
                self.delay = None;
                segment.ledger().clock.advance(due);
                news = true;
            }
        }
        let coming = self.mailbox.coming(segment.steps.ctx);
        if self.is_done(&segment.steps, coming).await? {
            self.receive(segment).await?;
            news = true;
        }
        news |= self.receive_ends(segment).await?;
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

    /// Returns whether this is done, according to the journal so far. It does not wait.
    async fn is_done(&mut self, steps: &Steps<'a>, handle: Awaited) -> Result<bool, DurableError> {
        let first = Awaited::first(steps.ctx, &[handle, self.done]).await;
        match first {
            Ok(first) => Ok(first == 0),
            Err(error) => Err(self.cancellation.engine_error(&error)),
        }
    }

    /// Receives the ends of other runs that have arrived. Returns whether there are any.
    async fn receive_ends(&mut self, segment: &Segment<'a>) -> Result<bool, DurableError> {
        let Steps { ctx, meter, .. } = &segment.steps;
        let mut are_any = false;
        while let Some(ends) = &mut self.ends {
            let handles: Vec<_> = ends.handles().chain([self.done]).collect();
            let end = match Awaited::first(ctx, &handles).await {
                Ok(first) => ends.receive(first, ctx, meter).await,
                Err(error) => Err(error),
            };
            match end {
                Ok(Some(end)) => {
                    let at = self.mailbox.add(end);
                    segment.ledger().clock.advance(at);
                    are_any = true;
                }
                Ok(None) => break,
                Err(error) => return Err(self.cancellation.engine_error(&error)),
            }
        }
        Ok(are_any)
    }

    /// Receives the next signal of the inbox, which has arrived.
    async fn receive(&mut self, segment: &Segment<'a>) -> Result<(), DurableError> {
        let Steps { ctx, meter, .. } = &segment.steps;
        match self.mailbox.receive(ctx, meter).await {
            Ok(at) => {
                segment.ledger().clock.advance(at);
                Ok(())
            }
            Err(error) => Err(self.cancellation.engine_error(&error)),
        }
    }
}

/// Starts the attempts that are due, and waits until one has ended, one of these is done, or it takes too long.
async fn watch(segment: &Segment<'_>, handles: Vec<Awaited>, patience: Duration) -> Observation {
    let until = Instant::now() + patience;
    let observation = |ends, cancelled| Observation {
        cancelled,
        ..Observation::of_ends(Utc::now(), ends)
    };
    let lost = lost(segment);
    if !lost.is_empty() {
        return Observation {
            lost,
            ..observation(Vec::new(), false)
        };
    }
    loop {
        // Listens before the check, so that no end is missed in between.
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
            first = Awaited::first(segment.steps.ctx, &handles) => first,
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

/// Returns the attempts that were in flight when this attempt at the invocation began, and that this worker does not
/// have. Writes are left out: a write is made once, and `begin` records a lost one.
fn lost(segment: &Segment<'_>) -> Vec<u64> {
    if !segment.is_again.swap(false, Ordering::Relaxed) {
        return Vec::new();
    }
    let now = Utc::now();
    let flow = segment.flow();
    let attempts = flow.attempts();
    attempts
        .filter(|attempt| !attempt.step.is_write() && attempt.life.is_due(now))
        .map(|attempt| (attempt.key.handle.number(), attempt.key.number))
        .filter(|key| !segment.attempts.has(*key, || None))
        .map(|(number, _)| number)
        .collect()
}

/// The result of starting attempts.
struct Begun {
    /// The attempts that have ended.
    ends: Vec<AttemptEnd>,
    /// When the next attempt is due.
    due: Option<DateTime<Utc>>,
    /// Whether a write is due whose start has to be journaled first.
    is_to_be_journaled: bool,
}

/// Starts the attempts that are due.
fn begin(segment: &Segment<'_>) -> Begun {
    let (now, drain) = (Utc::now(), &segment.steps.worker.drain);
    let (mut ends, mut due) = (Vec::new(), None::<DateTime<Utc>>);
    let (mut wanted, mut starts) = (BTreeMap::new(), Vec::new());
    let mut is_to_be_journaled = false;
    let (flow, mut permits) = (segment.flow(), segment.permits());
    let is_alone = flow.attempts().count() == 1;
    for attempt in flow.attempts() {
        let (handle, step) = (attempt.key.handle, attempt.step.options.step);
        let key = (handle.number(), attempt.key.number);
        if segment.attempts.has(key, || drain.begin()) {
            wanted.insert(key, step);
            continue;
        }
        if let Some(later) = attempt.life.due().filter(|due| *due > now) {
            due = Some(due.map_or(later, |due| due.min(later)));
            continue;
        }
        if !attempt.step.is_write() {
            wanted.insert(key, step);
            // A stopping worker starts no attempt: it is left to another worker.
            starts.extend(drain.begin().map(|active| (segment.work(&attempt), active)));
            continue;
        }
        let refused = match permits.remove(&handle) {
            // The write waits until its start is journaled, after an attempt that did not count.
            None if !attempt.is_made => {
                is_to_be_journaled |= attempt.life.due().is_some() && drain.begin().is_some();
                continue;
            }
            None => lost_write(),
            // A write is only made if this is known to be the first time.
            Some(_) if attempt.is_left => given_up(),
            Some(active) => {
                wanted.insert(key, step);
                starts.push((segment.work(&attempt), active));
                continue;
            }
        };
        ends.push((key, step, Attempted::from(Err(refused))));
    }
    drop((flow, permits));
    for (work, active) in starts {
        segment.begin(work, active, is_alone);
    }
    let results = segment.attempts.results(|key| wanted.contains_key(&key));
    let results = results.into_iter().filter_map(|(key, attempted)| {
        let step = wanted.get(&key)?;
        Some((key, *step, attempted))
    });
    let ends = ends.into_iter().chain(results);
    let ends = ends.map(|((number, attempt), step, attempted)| AttemptEnd {
        number,
        attempt,
        step: Some(step),
        made: attempted.made,
        result: attempted.result,
    });
    Begun {
        ends: ends.collect(),
        due,
        is_to_be_journaled,
    }
}

/// Returns whether an attempt is in flight, or starts before a journaled wait would be over.
fn is_acting(segment: &Segment<'_>) -> bool {
    let now = segment.ledger().clock.now();
    let within = TimeDelta::from_std(segment.pulse).unwrap_or(TimeDelta::MAX);
    let flow = segment.flow();
    let mut attempts = flow.attempts();
    attempts.any(|attempt| attempt.life.due().is_none_or(|due| due - now <= within))
}

fn is_calling_model(segment: &Segment<'_>) -> bool {
    let flow = segment.flow();
    let mut attempts = flow.attempts();
    attempts.any(|attempt| matches!(attempt.step.effect, Effect::Model(_) | Effect::Summary(_)))
}
